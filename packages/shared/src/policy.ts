import type { JsonObject } from './json-rpc.js';

/** Which tools, by patterns; without `allow` all, `deny` wins, `approve` holds a call until a person says yes. */
export interface ToolPatterns {
  allow?: string[];
  deny?: string[];
  approve?: string[];
}

export interface SessionLimits {
  callsPerMinute?: number;
  /** Calls at once. */
  concurrent?: number;
  /** Milliseconds a call may take. */
  timeoutMs?: number;
  /** Bytes of the texts and data of one result. */
  resultBytes?: number;
  /** Bytes of the images of one result, which then do not count in `resultBytes`. */
  imageBytes?: number;
}

export type CatalogMode = 'all' | 'search' | 'code';

/** What a session may do (DESIGN.md section 4); folders are relative to WORKSPACE_DIR. */
export interface SessionPolicy {
  tools?: ToolPatterns;
  folders?: { read?: string[]; write?: string[]; blocked?: string[] };
  env?: Record<string, string>;
  /** What its commands reach: nothing (default), or the orchestrator, to call tools. */
  network?: 'none' | 'orchestrator';
  limits?: SessionLimits;
  /** Where results over `resultBytes` go whole: kept by the orchestrator (default), or a file in the workspace. */
  largeResults?: 'kept' | 'workspace';
  /** How its clients list tools: all of them, or a few that find the others and call them, one by one or from code. */
  catalog?: CatalogMode;
}

const HINTS = 'readOnlyHint|destructiveHint|idempotentHint|openWorldHint';
const patterns: JsonObject = {
  type: 'array',
  maxItems: 1000,
  items: { type: 'string', maxLength: 200, pattern: `^([A-Za-z0-9_.*/-]+|(?=@))(@!?(${HINTS}))?$` },
};
/** Relative to WORKSPACE_DIR, and within it. */
const path: JsonObject = {
  type: 'string',
  maxLength: 1000,
  pattern: '^(?!/)(?!([\\s\\S]*/)?[.][.](/|$))[^\\0]+$',
};
const paths: JsonObject = { type: 'array', maxItems: 100, items: path };
const count: JsonObject = { type: 'integer', minimum: 1 };

/** The members of a policy, as they stand in the bodies of `POST` and `PATCH /api/sessions`. */
export const policyProperties: JsonObject = {
  tools: {
    type: 'object',
    properties: { allow: patterns, deny: patterns, approve: patterns },
    additionalProperties: false,
  },
  folders: {
    type: 'object',
    properties: { read: paths, write: paths, blocked: paths },
    additionalProperties: false,
  },
  env: {
    type: 'object',
    propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
    additionalProperties: { type: 'string' },
  },
  network: { enum: ['none', 'orchestrator'] },
  largeResults: { enum: ['kept', 'workspace'] },
  catalog: { enum: ['all', 'search', 'code'] satisfies CatalogMode[] },
  limits: {
    type: 'object',
    properties: {
      callsPerMinute: count,
      concurrent: count,
      timeoutMs: count,
      resultBytes: count,
      imageBytes: count,
    },
    additionalProperties: false,
  },
};
