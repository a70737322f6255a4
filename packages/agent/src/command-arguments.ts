import { parseArgs } from 'node:util';
import { messageOf } from '@mcpbridge/shared/errors.js';
import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';

export class UsageError extends Error {}

export const USAGE = `agent [options] "question" [-]

The answer goes to stdout, what happens meanwhile to stderr. With "-", or without a question, what is piped in is
read: git diff | agent "Review this:" -

  -m, --mission NAME        a file of the missions folder
  -i, --input NAME=VALUE    what the mission asks for; may be repeated
  -b, --backend NAME        which brain, for example openai:qwen3
  -s, --strategy NAME       auto, react, parallel or plan; auto: chosen by the question
  -a, --allow PREFIX        beginning of the names of tools that it may use; may be repeated
  -c, --conversation ID     go on with that one
      --json                every step as a line of JSON on stdout
  -q, --quiet               nothing but the answer
  -h, --help

The orchestrator is found by MCP_API_URL (http://127.0.0.1:8080) and the token of MCPBRIDGE_HOME, or MCP_API_TOKEN.`;

export interface CommandArguments {
  question: string;
  /** Standard input belongs to the question. */
  readsInput: boolean;
  help: boolean;
  isQuiet: boolean;
  isJson: boolean;
  /** What goes into the request beside the message. */
  body: JsonObject;
}

const options = {
  mission: { type: 'string', short: 'm' },
  input: { type: 'string', short: 'i', multiple: true },
  backend: { type: 'string', short: 'b' },
  strategy: { type: 'string', short: 's' },
  allow: { type: 'string', short: 'a', multiple: true },
  conversation: { type: 'string', short: 'c' },
  json: { type: 'boolean', default: false },
  quiet: { type: 'boolean', short: 'q', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** @throws UsageError */
export function readArguments(argv: string[]): CommandArguments {
  const { values, positionals } = parse(argv);
  const { mission, backend, strategy, allow, conversation, input = [] } = values;
  return {
    question: positionals.filter((part) => part !== '-').join(' '),
    readsInput: positionals.includes('-'),
    help: values.help,
    isQuiet: values.quiet,
    isJson: values.json,
    body: {
      ...(mission === undefined ? {} : { mission }),
      ...(backend === undefined ? {} : { backend }),
      ...(strategy === undefined ? {} : { strategy }),
      ...(allow === undefined ? {} : { allowed_prefixes: allow }),
      ...(conversation === undefined ? {} : { conversation_id: conversation }),
      ...(input.length === 0 ? {} : { inputs: Object.fromEntries(input.map(readInput)) }),
    },
  };
}

function parse(argv: string[]) {
  try {
    return parseArgs({ args: argv, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/** A value that is JSON is taken as that, all else as text. */
function readInput(text: string): [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--input is "${text}"; write NAME=VALUE.`);
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}
