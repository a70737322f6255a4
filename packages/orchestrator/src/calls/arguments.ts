import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import { type Check, compileSchema } from '@mcpbridge/shared/validate.js';
import { linearPattern } from './linear-pattern.js';

/** Compiled at the first call; a definition that is listed anew is another object and is compiled again. */
const checks = new WeakMap<ToolDefinition, Check>();

/**
 * The arguments as an object, checked against the tool's schema in the schema's own dialect.
 * @throws INVALID_ARGUMENTS naming each path and what was expected there.
 */
export function checkArguments(tool: ToolDefinition, given: unknown): JsonObject {
  const args = given ?? {};
  if (!isObject(args)) {
    throw new AppError('INVALID_ARGUMENTS', `The arguments of "${tool.name}" must be a JSON object.`);
  }
  const check = checkOf(tool);
  const faults = check(args);
  if (faults.length === 0 || check(withoutNulls(args)).length === 0) return args;
  throw new AppError('INVALID_ARGUMENTS', `The arguments do not fit "${tool.name}": ${faults.join('; ')}.`, {
    details: { faults },
  });
}

/** Many models and clients write null for what they leave out; whether that is right is for the server to say. */
function withoutNulls(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

function checkOf(tool: ToolDefinition): Check {
  let check = checks.get(tool);
  if (!check) {
    check = compileOrAccept(tool);
    checks.set(tool, check);
  }
  return check;
}

/** A schema that no dialect of ours can read is the server's own to enforce; the call is not refused for it. */
function compileOrAccept(tool: ToolDefinition): Check {
  try {
    return compileSchema(tool.inputSchema, { patterns: linearPattern });
  } catch {
    return () => [];
  }
}
