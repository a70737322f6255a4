import type { Scope } from '../search/scope.js';
import { topFolders } from '../search/scope.js';

/** A condition of SQL with its parameters. */
export interface Condition {
  sql: string;
  parameters: string[];
}

/** That a path is one which the scope's caller may see: the guard again, since the index holds the files of all. */
export function visible(scope: Scope): Condition {
  const folders = topFolders(scope);
  if (folders.length === 0) return { sql: 'false', parameters: [] };
  const within = folders.map(isWithin);
  const blocked = scope.guard.blocked.map(isWithin);
  const shown = `(${within.map(({ sql }) => sql).join(' or ')})`;
  const hidden = blocked.map(({ sql }) => ` and not ${sql}`).join('');
  return {
    sql: shown + hidden,
    parameters: [...within, ...blocked].flatMap(({ parameters }) => parameters),
  };
}

/** "0" is the character after "/". */
function isWithin(folder: string): Condition {
  if (folder === '') return { sql: 'true', parameters: [] };
  return {
    sql: '(path = ? or (path >= ? and path < ?))',
    parameters: [folder, `${folder}/`, `${folder}0`],
  };
}
