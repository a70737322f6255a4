import { dirname } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { PATH } from '../sandbox/machine-paths.js';

/** What a session or a call may give to a command. Names that change how programs are loaded are none of these. */
const PREFIXES = ['MCP_', 'SECRET_', 'VAR_', 'STEP_', 'SCRIPT_', 'GIT_AUTHOR_', 'GIT_COMMITTER_', 'LC_'];
const NAMES = new Set([
  'CI',
  'COLUMNS',
  'DEBIAN_FRONTEND',
  'FORCE_COLOR',
  'LANG',
  'NO_COLOR',
  'NODE_ENV',
  'PYTHONDONTWRITEBYTECODE',
  'PYTHONUNBUFFERED',
  'TERM',
  'TZ',
]);
const WELL_FORMED = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The Node that this service runs with is there under its own path, wherever that is. */
const NODE = dirname(process.execPath);
const PROGRAMS = PATH.split(':').includes(NODE) ? PATH : `${PATH}:${NODE}`;

const OF_THE_MACHINE = { PATH: PROGRAMS, LANG: 'C.UTF-8', USER: 'agent', LOGNAME: 'agent', SHELL: '/bin/sh' };

/**
 * The whole environment of a command: nothing of this process's own. What the session has goes before what the call
 * gives, so that no call speaks for another session.
 * @throws INVALID_REQUEST for a name that may not be given, and for more than the system takes
 */
export function commandEnvironment(
  given: Readonly<Record<string, string>>,
  session: Readonly<Record<string, string>>,
): Record<string, string> {
  const all = { ...OF_THE_MACHINE, ...admitted(given, 'The call'), ...admitted(session, 'The session') };
  checkSize(all);
  return all;
}

/** The system takes no more in one variable, and not much more in all. */
const MAX_VARIABLE_BYTES = 120_000;
const MAX_BYTES = 1_000_000;

/** @throws INVALID_REQUEST */
function checkSize(variables: Readonly<Record<string, string>>): void {
  let all = 0;
  for (const [name, value] of Object.entries(variables)) {
    const bytes = Buffer.byteLength(value);
    all += name.length + bytes;
    if (bytes > MAX_VARIABLE_BYTES)
      throw new AppError(
        'INVALID_REQUEST',
        `The variable ${name} has ${bytes} bytes, and may have ${MAX_VARIABLE_BYTES}: give it as stdin or in a file.`,
      );
  }
  if (all > MAX_BYTES)
    throw new AppError(
      'INVALID_REQUEST',
      `The variables of the command have ${all} bytes in all, and may have ${MAX_BYTES}: give some as stdin or in a file.`,
    );
}

function admitted(
  variables: Readonly<Record<string, string>>,
  whose: string,
): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(variables)) {
    if (!mayBeGiven(name) || value.includes('\0')) {
      throw new AppError(
        'INVALID_REQUEST',
        `${whose} gives a command the variable ${JSON.stringify(name)}; use a name that begins with ${PREFIXES.slice(0, 3).join(', ')}, or one of ${[...NAMES].join(', ')}.`,
      );
    }
  }
  return variables;
}

function mayBeGiven(name: string): boolean {
  return WELL_FORMED.test(name) && (NAMES.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix)));
}
