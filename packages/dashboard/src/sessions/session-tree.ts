import type { SessionInfo } from './use-sessions';

export interface SessionRow {
  session: SessionInfo;
  depth: number;
}

/** Children below their parents. */
export function indented(sessions: readonly SessionInfo[]): SessionRow[] {
  const known = new Set(sessions.map(({ id }) => id));
  const children = Map.groupBy(sessions, ({ parent }) => (parent && known.has(parent) ? parent : ''));
  const rows: SessionRow[] = [];
  const add = (parent: string, depth: number) => {
    for (const session of children.get(parent) ?? []) {
      rows.push({ session, depth });
      if (session.id !== '') add(session.id, depth + 1);
    }
  };
  add('', 0);
  return rows;
}
