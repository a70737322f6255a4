/** Of the list, in their order; the status and the tool are always there. */
export const COLUMNS = [
  { id: 'time', label: 'Time', cell: 't', width: '100px' },
  { id: 'session', label: 'Session', cell: 's', width: 'minmax(90px, 170px)' },
  { id: 'tool', label: 'Tool', cell: 'tool', width: 'minmax(120px, 1.1fr)' },
  { id: 'args', label: 'Arguments', cell: 'a', width: 'minmax(80px, 2fr)' },
  { id: 'duration', label: 'Duration', cell: 'd', width: '116px' },
  { id: 'size', label: 'Size', cell: 'z', width: 'var(--size-column, 76px)' },
] as const;

const ALWAYS = 'tool';
const ALL = COLUMNS.map(({ id }) => id as string);

/** `cols=` of the address; unknown words in it show nothing. */
export function shownColumns(text: string | undefined): ReadonlySet<string> {
  return new Set(text === undefined ? ALL : [...text.split(','), ALWAYS]);
}

/** The address with one column more or less; undefined when all are shown, as by default. */
export function withColumn(text: string | undefined, id: string): string | undefined {
  const shown = shownColumns(text);
  const next = ALL.filter((one) => (one === id ? !shown.has(one) : shown.has(one)));
  return next.length === ALL.length ? undefined : next.join(',');
}

export const choosableColumns = COLUMNS.filter(({ id }) => id !== ALWAYS);

/** For the list: which cells are left out, and how wide the others are. */
export function columnLayout(text: string | undefined): { className: string; style: React.CSSProperties } {
  const shown = shownColumns(text);
  const hidden = COLUMNS.filter(({ id }) => !shown.has(id)).map(({ cell }) => `no-${cell}`);
  const widths = COLUMNS.filter(({ id }) => shown.has(id)).map(({ width }) => width);
  return {
    className: hidden.join(' '),
    style: { '--columns': ['30px', ...widths].join(' ') } as React.CSSProperties,
  };
}
