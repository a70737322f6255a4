import { basename } from 'node:path';

/** Where the values of placeholders come from. */
export interface PlaceholderSource {
  env: NodeJS.ProcessEnv;
  workspaceFolder: string;
  /** The value of `${secret:NAME}`, or how to get one: the rest of a sentence. */
  secret?(name: string): { value: string } | { why: string };
}

const PLACEHOLDER = /\$\{(?:input:([^}]+)|secret:([^}]*)|(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?)\}/g;

/** A placeholder that nothing replaces, and what is missing. */
export interface Missing {
  placeholder: string;
  name: string;
  kind: 'variable' | 'input' | 'secret';
  /** Of a secret: the rest of a sentence. */
  why?: string;
}

/**
 * Replaces `${NAME}`, `${NAME:-default}`, `${env:NAME}` and `${secret:NAME}`; `${WORKSPACE_DIR}` and `${workspaceFolder}` are always the
 * workspace folder. Everything else with a `$` stays as it is.
 */
export function fillPlaceholders(
  text: string,
  source: PlaceholderSource,
  missing: (missing: Missing) => void,
): string {
  return text.replace(PLACEHOLDER, (placeholder: string, input, secret, name = '', otherwise) => {
    if (secret !== undefined) {
      const found = source.secret?.(secret) ?? { why: 'cannot be used here' };
      if ('value' in found) return found.value;
      missing({ placeholder, name: secret, kind: 'secret', why: found.why });
      return placeholder;
    }
    const value = input === undefined ? lookUp(name, source) : undefined;
    // As in a shell: a default also stands in for an empty value.
    if (value !== undefined && (value !== '' || otherwise === undefined)) return value;
    if (otherwise !== undefined) return otherwise;
    if (input === undefined) missing({ placeholder, name, kind: 'variable' });
    else missing({ placeholder, name: input, kind: 'input' });
    return placeholder;
  });
}

/** True when a text is nothing but placeholders, none of them with a default that could be a secret. */
export function isAllPlaceholders(text: string): boolean {
  return /^(\$\{[^{}]*\}|[\s:])+$/.test(text) && !/:-[^}]/.test(text);
}

function lookUp(name: string, { env, workspaceFolder }: PlaceholderSource): string | undefined {
  if (name === 'WORKSPACE_DIR' || name === 'workspaceFolder') return workspaceFolder;
  if (name === 'workspaceFolderBasename') return basename(workspaceFolder);
  if (name === 'userHome') return env.HOME ?? env.USERPROFILE;
  return env[name];
}
