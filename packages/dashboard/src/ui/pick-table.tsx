import type { ReactNode } from 'react';

export interface Column<Row> {
  title: ReactNode;
  /** Figures stand at the right. */
  isNumber?: boolean;
  /** Left out where there is no room, as on a phone: what is opened says it too. */
  isMinor?: boolean;
  /** Of the cell, beside what follows from the column. */
  tone?(row: Row): string | undefined;
  hint?(row: Row): string | undefined;
  cell(row: Row): ReactNode;
}

interface PickTableProps<Row> {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** Key of the row that is open beside the table. */
  chosen: string | undefined;
  onPick(row: Row): void;
}

/** Rows of which one can be opened: by a link in it, or by a click wherever nothing else is. */
export function PickTable<Row>({ columns, rows, keyOf, chosen, onPick }: PickTableProps<Row>) {
  return (
    <div className="scroll-x">
      <table className="table">
        <thead>
          <tr>
            {columns.map(({ title, isNumber, isMinor }, at) => (
              <th key={at} className={classes(isNumber && 'num', isMinor && 'minor')}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              className="pickable"
              aria-selected={keyOf(row) === chosen}
              onClick={(event) =>
                event.target instanceof HTMLElement &&
                !event.target.closest('a, button') &&
                document.getSelection()?.type !== 'Range' &&
                onPick(row)
              }
            >
              {columns.map(({ isNumber, isMinor, tone, hint, cell }, at) => (
                <td
                  key={at}
                  className={classes(isNumber && 'num', isMinor && 'minor', tone?.(row))}
                  title={hint?.(row)}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classes(...names: (string | false | undefined)[]): string | undefined {
  return names.filter(Boolean).join(' ') || undefined;
}
