import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAddress } from '../address/address';
import { prefer, usePreferences } from '../shell/preferences';
import { CopyButton } from '../ui/copy-button';
import { Menu } from '../ui/menu';
import { choosableColumns, shownColumns, withColumn } from './columns';
import { type Range, rangeBounds, rangeLabel, SPANS } from './range';

const GROUPS: Record<string, string> = {
  '': 'none',
  session: 'session',
  tool: 'tool',
  code: 'error',
  server: 'server',
  client: 'client',
};

export function ToolBar({
  range,
  group = '',
  children,
}: {
  range: Range;
  group: string | undefined;
  children: ReactNode;
}) {
  const { search, set } = useAddress();
  const { density, fold } = usePreferences();
  const spans = Object.entries(SPANS).map(([text, { label }]) => ({
    label,
    isChosen: range.kind === 'last' && range.text === text,
    run: () => set({ t: text }),
  }));
  const groups = Object.entries(GROUPS).map(([by, label]) => ({
    label: by === '' ? 'No groups' : `By ${label}`,
    isChosen: group === by,
    run: () => set({ group: by || undefined, call: undefined }),
  }));
  const exported = new URLSearchParams({ ...rangeBounds(range), ...(search.q ? { q: search.q } : {}) });
  return (
    <div className="toolbar">
      {children}
      <div className="row wrap toolbar-buttons">
        <Menu
          label={rangeLabel(range)}
          entries={[
            { label: 'Live', isChosen: range.kind === 'live', run: () => set({ t: undefined }) },
            ...spans,
          ]}
        />
        <Menu label={`Group: ${GROUPS[group] ?? group}`} entries={groups} />
        <Menu
          label="Rows"
          entries={[
            ...(['dense', 'roomy'] as const).map((value) => ({
              label: value === 'dense' ? 'Dense' : 'Roomy',
              isChosen: density === value,
              run: () => prefer({ density: value }),
            })),
            { label: 'Fold alike rows', isChosen: fold, run: () => prefer({ fold: !fold }) },
          ]}
        />
        <Menu
          label="Columns"
          entries={choosableColumns.map(({ id, label }) => ({
            label,
            isChosen: shownColumns(search.cols).has(id),
            run: () => set({ cols: withColumn(search.cols, id) }, { replace: true }),
          }))}
        />
        <CopyButton text={window.location.href} label="Copy link" />
        <a className="button quiet" href={`/api/calls/export?${exported}`} download>
          <Download size={16} strokeWidth={1.5} aria-hidden /> Export JSONL
        </a>
      </div>
    </div>
  );
}
