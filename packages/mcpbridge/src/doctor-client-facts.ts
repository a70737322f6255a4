import type { ListName } from './doctor-views.js';

/** What becomes of a result that has text and structured content. */
type HandsOn = 'both' | 'the text alone' | 'the structured content alone';

/** What a client is known to do to whatever server it has, seen by running it. */
export interface ClientFacts {
  name: string;
  /** A tool as the model sees it when the server is called `bridge`; undefined when the client drops it. */
  show(tool: string): string | undefined;
  /** What happens to two tools that look the same by then; undefined when no name is changed. */
  clash?: string;
  /** The lists that it asks for, of its own accord or because it is told to. */
  lists: readonly ListName[];
  /** It lists tools again when they change. */
  hearsOfChanges: boolean;
  /** The server's instructions reach the model. */
  readsInstructions: boolean;
  handsOn: HandsOn;
  /** Extensions that it announces. */
  extensions: readonly string[];
  /** With every server, whatever it offers. */
  always: readonly string[];
}

const PREFIXED = 'bridge_';
const keep = (allowed: RegExp, other: string) => (text: string) => text.replace(allowed, other);
const dashed = keep(/[^A-Za-z0-9_-]/g, '_');
const plain = keep(/[^A-Za-z0-9_]/g, '_');
const dotted = keep(/[^A-Za-z0-9_.-]/g, '_');
const hyphened = keep(/[^A-Za-z0-9_-]/g, '-');
const KEPT_ONE = 'keeps one of them';

const noElicitation = 'nobody is asked when the server elicits';
const noSampling = 'no model is asked when the server samples';
const noRoots = 'the server learns no roots';
const noQuestions = [noElicitation, noSampling, noRoots];
const noProgress = 'progress is not asked for';

const library = {
  show: (tool: string): string | undefined => tool,
  lists: ['tools'],
  hearsOfChanges: false,
  readsInstructions: false,
  handsOn: 'both',
  extensions: [],
  always: [...noQuestions, noProgress],
} as const;

/** No model is behind it: whoever uses it lists what they want, and reads the rest. */
const inPersonsHands = {
  lists: ['tools', 'resources', 'resourceTemplates', 'prompts'],
  readsInstructions: true,
} as const;

/** From runs of each client against a server that wrote down what passed; see docs/fidelity.md for the versions. */
export const CLIENTS: readonly ClientFacts[] = [
  {
    name: 'Claude Code',
    show: (tool) => upTo(128, `mcp__bridge__${dashed(tool)}`, () => undefined),
    clash: KEPT_ONE,
    lists: ['tools', 'resources', 'prompts'],
    hearsOfChanges: true,
    readsInstructions: true,
    handsOn: 'the structured content alone',
    extensions: [],
    always: [
      noSampling,
      'a large result is put into a file',
      'without a person every elicitation is cancelled',
    ],
  },
  {
    name: 'Codex',
    show: (tool) => upTo(128, plain(tool), (whole) => `${whole.slice(0, 128)}…`),
    clash: 'tells them apart by hashes',
    lists: ['tools'],
    hearsOfChanges: false,
    readsInstructions: true,
    handsOn: 'the structured content alone',
    extensions: [],
    always: [
      noSampling,
      noRoots,
      'of a result over about 12,000 characters the middle is cut out',
      'without a person every elicitation is declined',
    ],
  },
  {
    name: 'Gemini CLI',
    show: (tool) =>
      upTo(63, `mcp_${PREFIXED}${dotted(tool)}`, (whole) => `${whole.slice(0, 30)}...${whole.slice(-30)}`),
    lists: ['tools'],
    hearsOfChanges: true,
    readsInstructions: true,
    handsOn: 'the text alone',
    extensions: [],
    always: [noElicitation, noSampling, 'of a large result 8,000 and 32,000 characters are kept'],
  },
  {
    name: 'Copilot CLI',
    show: (tool) => upTo(64, `bridge-${hyphened(tool)}`, (whole) => whole.slice(0, 64)),
    clash: KEPT_ONE,
    lists: ['tools'],
    hearsOfChanges: true,
    readsInstructions: true,
    handsOn: 'both',
    extensions: [],
    always: [
      noRoots,
      'images in results do not reach the model',
      'a large result is put into a file',
      'without a person every elicitation is declined, and sampling never answered',
    ],
  },
  {
    name: 'opencode',
    show: (tool) => `${PREFIXED}${dashed(tool)}`,
    clash: KEPT_ONE,
    lists: ['tools'],
    hearsOfChanges: true,
    readsInstructions: true,
    handsOn: 'the text alone',
    extensions: [],
    always: [noElicitation, noSampling, 'a large result is cut by lines, one of a single line to nothing'],
  },
  {
    ...library,
    ...inPersonsHands,
    name: 'MCP Inspector',
    extensions: ['io.modelcontextprotocol/tasks', 'io.modelcontextprotocol/skills'],
    always: [noElicitation, noSampling, 'roots are answered with none', noProgress],
  },
  { ...library, ...inPersonsHands, name: 'MCP SDK (TypeScript)' },
  { ...library, name: 'LangChain JS', always: [...library.always, "a tool's own failure is thrown"] },
  { ...library, name: 'AI SDK', handsOn: 'the text alone' },
  {
    ...library,
    name: 'Mastra',
    show: (tool) => `${PREFIXED}${tool}`,
    handsOn: 'the structured content alone',
    extensions: ['io.modelcontextprotocol/ui'],
    always: [...library.always, "a tool's own failure is thrown"],
  },
  {
    ...library,
    name: 'OpenAI Agents',
    show: plain,
    clash: 'refuses to start',
    handsOn: 'the text alone',
    always: [...library.always, 'of an error that is no result only its occurrence is told'],
  },
];

function upTo(limit: number, whole: string, otherwise: (whole: string) => string | undefined) {
  return whole.length <= limit ? whole : otherwise(whole);
}
