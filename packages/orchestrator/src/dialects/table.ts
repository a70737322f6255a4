import type { DialectName } from '@mcpbridge/shared/dialect-names.js';
import type { Dialect, NameRules, SchemaRules } from './dialect.js';

/** Clients put the name that the user gave to the server before a tool's own; so much of it is reckoned with. */
const SERVER_NAME = 12;

const dashed = (whole: number, prefix: string): NameRules => ({
  longest: whole - prefix.length - SERVER_NAME,
  foreign: /[^A-Za-z0-9_-]/g,
});

/** Model APIs that take a union or a reference below the root, as most do. */
const common: SchemaRules = {
  refs: 'inlined',
  unions: 'kept',
  types: 'kept',
  tuples: 'items',
  enums: 'kept',
  complete: true,
  keywords: 'all',
};

/**
 * Gemini's API takes a part of OpenAPI's Schema: no `$ref` (gemini-cli#13326, opencode#12295), no unions beside other
 * fields (ai-memory#735, LibreChat#14160), no list of types (copilot-cli#4623), `enum` for strings alone
 * (opencode#12908), no array without `items` (backstage#34038), nothing in `required` that is no property
 * (kilocode#11950), `properties` in objects alone (opencode#11889); unknown keywords are refused (promptfoo#6904,
 * opencode#14234 and #15408).
 */
const gemini: SchemaRules = {
  refs: 'inlined',
  unions: 'merged',
  types: 'nullable',
  tuples: 'items',
  enums: 'strings',
  complete: true,
  keywords: new Set(['type', 'description', 'nullable', 'enum', 'items', 'properties', 'required', 'anyOf']),
};

/** `object` without `properties` breaks every prompt (copilot-cli#1825), `$ref` is not followed (#1876), a list of types breaks Gemini's (#4623). */
const copilot: SchemaRules = { ...common, types: 'nullable' };

/**
 * What is known of clients: limits of names from runs of them, what becomes of schemas from the issues named here.
 * The names in `clients` are what each says of itself in `initialize`, by our own runs or by public code and lists of clients.
 */
export const DIALECTS: Record<Exclude<DialectName, 'off'>, Dialect> = {
  /**
   * Claude Code drops a tool whose `mcp__server__tool` is over 128. The API answers 400 to the whole request for a union
   * at the root (claude-code#5973, #4753) or a tuple of older drafts (claude-code#586, hyperdx#2925).
   */
  claude: {
    clients: ['claude-code', 'claude-ai'],
    names: dashed(128, 'mcp____'),
    schemas: { ...common, refs: 'kept', tuples: 'prefixItems', complete: false },
  },
  /**
   * Functions of OpenAI: 64 characters; Codex and OpenAI Agents replace dashes. Unions at the root are refused
   * (flywheel_connectors#49), `object` without `properties` too (copilot-cli#2223); Codex keeps `anyOf` and loses `oneOf`,
   * `allOf` and tuples (codex-rs/tools/src/json_schema.rs; references in older ones: codex#3152).
   */
  openai: {
    clients: ['codex-mcp-client', 'codex', 'chatgpt', 'openai-agents-mcp-client*'],
    names: { ...dashed(64, '__'), blurred: /-/g },
    schemas: { ...common, unions: 'anyOf' },
  },
  /** `mcp_server_tool` over 63 loses its middle. */
  gemini: {
    clients: ['gemini-cli-mcp-client*', 'antigravity-client'],
    names: dashed(63, 'mcp__'),
    schemas: gemini,
  },
  /** `server-tool` is cut to 64. */
  copilot: { clients: ['github-copilot-developer'], names: dashed(64, '-'), schemas: copilot },
  /** 64 for all (vscode#243602); an array without `items` takes the tool out (vscode#248810). */
  vscode: {
    clients: [
      'visual studio code*',
      'visual-studio-code*',
      'code - oss*',
      'jetbrains-*',
      'xcode-copilot-xcode',
    ],
    names: dashed(64, 'mcp__'),
    schemas: copilot,
  },
  /** Server and tool together under 60 (composio#2788); a list of types is refused by the client itself (cursor#3778). */
  cursor: {
    clients: ['cursor', 'cursor-vscode'],
    names: dashed(59, '_'),
    schemas: { ...common, types: 'anyOf' },
  },
  /** Any model may be behind it; of what Gemini refuses it mends most itself, but not `$ref` (opencode#12295). */
  opencode: { clients: ['opencode'], names: dashed(64, '_'), schemas: common },
  /** What all of them take. */
  portable: { clients: [], names: { ...dashed(63, 'mcp__'), foreign: /[^A-Za-z0-9_]/g }, schemas: gemini },
};
