import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import {
  bracketMatching,
  defaultHighlightStyle,
  HighlightStyle,
  syntaxHighlighting,
} from '@codemirror/language';
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';

export interface TextFault {
  /** A word of the text that it is about, or undefined for the whole. */
  at: string | undefined;
  message: string;
}

interface CodeEditorProps {
  value: string;
  label: string;
  onChange(text: string): void;
  /** What is wrong with a text that is JSON; asked for after a pause. */
  check(text: string): Promise<TextFault[]>;
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--key)' },
  { tag: tags.string, color: 'var(--str)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--num)' },
]);

const looks = EditorView.theme({
  '&': { backgroundColor: 'var(--bg)', color: 'var(--text)', fontSize: '12px', maxHeight: '50vh' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)' },
  '.cm-scroller': { overflow: 'auto' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-2)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--hover)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': {
    backgroundColor: 'var(--sel) !important',
  },
  '.cm-tooltip': { backgroundColor: 'var(--bg)', color: 'var(--text)', border: '1px solid var(--edge)' },
  '.cm-lintRange-error': { textDecoration: 'underline wavy var(--err)', backgroundImage: 'none' },
});

/** CodeMirror in a shadow root, where it may bring its own styles: the page's CSP refuses them elsewhere. */
export default function CodeEditor({ value, label, onChange, check }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef({ onChange, check });
  latest.current = { onChange, check };
  const first = useRef(value);
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          lineNumbers(),
          history(),
          drawSelection(),
          bracketMatching(),
          highlightActiveLine(),
          json(),
          syntaxHighlighting(colours),
          syntaxHighlighting(defaultHighlightStyle, { fallback: true }),
          lintGutter(),
          linter((view) => faultsIn(view, latest.current.check), { delay: 250 }),
          keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of(
            (update) => update.docChanged && latest.current.onChange(update.state.doc.toString()),
          ),
          looks,
        ],
      }),
    });
    return () => view.destroy();
  }, [label]);
  return <div ref={host} className="editor-host" />;
}

const parse = jsonParseLinter();

async function faultsIn(view: EditorView, check: CodeEditorProps['check']): Promise<Diagnostic[]> {
  const broken = parse(view);
  if (broken.length > 0) return broken;
  const text = view.state.doc.toString();
  return (await check(text)).map(({ at, message }) => {
    const found = at === undefined ? -1 : text.indexOf(JSON.stringify(at));
    const from = Math.max(0, found);
    const to = found < 0 ? text.length : found + JSON.stringify(at).length;
    return { from, to, severity: 'error' as const, message };
  });
}
