import type { CallRow } from '@mcpbridge/shared/call-row.js';
import Form from '@rjsf/core';
import { useQuery } from '@tanstack/react-query';
import { Component, type ReactNode, useMemo, useState } from 'react';
import { useAddress } from '../address/address';
import type { ListedTool } from '../calls/use-tool-of';
import { messageOf, RequestError, request } from '../net/request';
import { copyText } from '../ui/clipboard';
import { Menu } from '../ui/menu';
import { faultsOf } from './check-value';
import { formFields, formTemplates, formWidgets } from './form-parts';
import { formShape, usualValue } from './form-schema';
import { formValidator } from './form-validator';
import { ResultOf } from './result-of';

interface TryFormProps {
  tool: ListedTool;
  session: string | undefined;
  /** The filter that finds its calls. */
  query: string;
}

type Value = Record<string, unknown>;

/** Form and JSON are two faces of one value; what is sent is exactly the JSON. */
export default function TryForm({ tool, session, query }: TryFormProps) {
  const shape = useMemo(() => formShape(tool.inputSchema), [tool]);
  const [value, setValue] = useState<Value>(() => usualValue(shape.schema));
  const [typed, setTyped] = useState<string>();
  const [answer, setAnswer] = useState<{ reply?: Record<string, unknown>; error?: RequestError }>();
  const [isRunning, setRunning] = useState(false);
  const [isSure, setSure] = useState(false);
  const text = typed ?? JSON.stringify(value, null, 2);
  const { sent, faults } = useMemo(() => read(text, tool), [text, tool]);
  const readsOnly = tool.annotations?.readOnlyHint === true || tool.annotations?.destructiveHint === false;
  const blocked = faults.length > 0 || isRunning || (!readsOnly && !isSure);
  const run = async () => {
    setRunning(true);
    setAnswer(undefined);
    try {
      const reply = await request<Record<string, unknown>>('/api/mcp/execute', {
        method: 'POST',
        body: { tool_name: tool.name, arguments: sent },
        ...(session ? { session } : {}),
      });
      setAnswer({ reply });
    } catch (error) {
      setAnswer({
        error: error instanceof RequestError ? error : new RequestError(0, 'FAILED', messageOf(error)),
      });
    } finally {
      setRunning(false);
    }
  };
  const onForm = (next: Value) => {
    setValue(next);
    setTyped(undefined);
  };
  return (
    <div className="stack">
      <div className="try">
        <FormGuard>
          <Form
            className="form"
            tagName="div"
            schema={shape.schema}
            uiSchema={shape.ui}
            fields={formFields}
            formData={value}
            validator={formValidator as never}
            noHtml5Validate
            liveValidate={false}
            showErrorList={false}
            omitExtraData={false}
            // A list or an object that nobody touched would be sent empty, and its schema may refuse that.
            experimental_defaultFormStateBehavior={{ emptyObjectFields: 'skipDefaults' }}
            templates={formTemplates}
            widgets={formWidgets}
            idPrefix="argument"
            onChange={({ formData }) => onForm(clean(formData) as Value)}
          >
            <span />
          </Form>
        </FormGuard>
        <div className="stack">
          <label>
            <span className="label">Arguments as JSON, exactly what is sent</span>
            <textarea
              className="field mono"
              rows={12}
              spellCheck={false}
              value={text}
              aria-invalid={faults.length > 0}
              onChange={(event) => {
                setTyped(event.target.value);
                const next = parsed(event.target.value);
                if (next) setValue(next);
              }}
            />
          </label>
          {faults.length > 0 ? (
            <ul className="err-text" aria-label="What is wrong">
              {faults.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          ) : null}
          <LastValues query={query} onTake={onForm} />
        </div>
      </div>
      {readsOnly ? null : (
        <label className="row note wait">
          <input type="checkbox" checked={isSure} onChange={(event) => setSure(event.target.checked)} />
          It does not say that it only reads. Run it for real.
        </label>
      )}
      <div className="row wrap">
        <button type="button" className="button primary" disabled={blocked} onClick={() => void run()}>
          {isRunning ? 'Running …' : 'Run'}
        </button>
        <Menu
          label="Copy"
          entries={[
            { label: 'Arguments', run: () => void copyText(text) },
            { label: 'curl', run: () => void copyText(curl(tool, sent)) },
          ]}
        />
        <span className="dim">{session ? `as session ${session}` : 'in your own session'}</span>
      </div>
      {answer ? <ResultOf answer={answer} query={query} /> : null}
    </div>
  );
}

/** Values of the last calls of this tool, to begin with. */
function LastValues({ query, onTake }: { query: string; onTake(value: Value): void }) {
  const { data } = useQuery({
    queryKey: ['last-values', query],
    queryFn: () =>
      request<{ calls: CallRow[] }>(
        `/api/calls?${new URLSearchParams({ q: `${query} status:ok`, limit: '20' })}`,
      ),
  });
  const { path } = useAddress();
  const kept = new Map(
    data?.calls.flatMap(({ args }) => (parsed(args) ? [[args, parsed(args) as Value]] : [])),
  );
  if (kept.size === 0 || path === '') return null;
  return (
    <Menu
      quiet
      label="Values of the last calls"
      entries={[...kept]
        .slice(0, 8)
        .map(([args, value]) => ({ label: args.slice(0, 60), run: () => onTake(value) }))}
    />
  );
}

/** A schema that the form cannot show leaves the JSON beside it. */
class FormGuard extends Component<{ children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };
  static getDerivedStateFromError() {
    return { isBroken: true };
  }
  override render() {
    if (this.state.isBroken) return <p className="said">This schema is beyond a form: write its JSON.</p>;
    return this.props.children;
  }
}

function read(text: string, tool: ListedTool): { sent: unknown; faults: string[] } {
  const sent = parsed(text);
  if (!sent) return { sent, faults: ['Arguments are a JSON object.'] };
  try {
    return {
      sent,
      faults: faultsOf(tool.inputSchema, sent).map(({ path, message }) =>
        path ? `${path}: ${message}` : message,
      ),
    };
  } catch {
    return { sent, faults: [] }; // A schema that cannot be read here is checked by the orchestrator.
  }
}

function parsed(text: string): Value | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Value)
      : undefined;
  } catch {
    return undefined; // It is being typed, or was cut.
  }
}

/** Fields that were emptied are not sent. */
function clean(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : [[key, clean(inner)]])),
  );
}

function curl(tool: ListedTool, args: unknown): string {
  const body = JSON.stringify({ tool_name: tool.name, arguments: args }).replaceAll("'", `'\\''`);
  return `curl -sS ${window.location.origin}/api/mcp/execute -H "Authorization: Bearer $MCP_API_TOKEN" --json '${body}'`;
}
