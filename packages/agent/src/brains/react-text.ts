import type { ModelCall } from '@mcpbridge/shared/conversation.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { readArguments } from './brain.js';

/** What a model wrote: a call, an answer, or words in which the form was meant and missed. */
export type Written =
  | { kind: 'call'; thought: string; call: ModelCall }
  | { kind: 'answer'; thought: string; text: string }
  | { kind: 'broken'; thought: string; fault: string };

const OBSERVATION = /^[ \t>*#-]*observation\s*\**\s*:/im;
const ANSWER = /(?:^|\n)[ \t>*#-]*final[ _-]?answer[ \t*]*:[ \t*]*/i;
const ACTION = /(?:^|\n)[ \t>*#-]*action[ \t*]*:[ \t*]*([^\n]*)/i;
const INPUT = /(?:^|\n)[ \t>*#-]*action[ _-]?input[ \t*]*:[ \t*]*/i;
const THOUGHT = /^[\s>*#-]*thought[ \t*]*:[ \t*]*/i;
const TAGGED = /<(tool_call|function_call|tool|invoke)\b([^>]*)>([\s\S]*?)(?:<\/\1>|$)/i;

/**
 * Reads Thought / Action / Action Input / Final Answer as models really write them: in bold, in lower case, with fences
 * around the JSON, as a call `tool({…})`, as XML tags. What comes after an Observation was invented, and is cut off.
 */
export function readReact(given: string, id: string, tools: readonly string[]): Written {
  const end = given.search(OBSERVATION);
  const text = (end < 0 ? given : given.slice(0, end)).trim();
  const tagged = TAGGED.exec(text);
  if (tagged) return readTagged(text, tagged, id, tools);
  const action = ACTION.exec(text);
  const answer = ANSWER.exec(text);
  if (answer && (!action || answer.index < action.index || isNone(action[1] ?? ''))) {
    const thought = withoutLabel(text.slice(0, answer.index));
    return { kind: 'answer', thought, text: text.slice(answer.index + answer[0].length).trim() };
  }
  if (action) return readAction(text, action, id, tools);
  if (INPUT.test(text)) return broken(text, 'there is an Action Input without an Action');
  // Many models answer without any form once they know.
  if (THOUGHT.test(text) && text.split('\n').length === 1)
    return broken(withoutLabel(text), 'after the Thought there is neither an Action nor a Final Answer');
  return text === '' ? broken('', 'it is empty') : { kind: 'answer', thought: '', text: withoutLabel(text) };
}

function readAction(text: string, action: RegExpExecArray, id: string, tools: readonly string[]): Written {
  const thought = withoutLabel(text.slice(0, action.index));
  const said = (action[1] ?? '').trim();
  // `tool({"a": 1})` on one line.
  const inline = /^`?([\w.-]+)`?\s*\(?\s*(\{[\s\S]*\})\s*\)?`?$/.exec(said);
  const name = (inline?.[1] ?? said).replaceAll(/["'`*[\]()]/g, '').trim();
  const tool = known(name, tools);
  const after = text.slice(action.index + action[0].length);
  const input = INPUT.exec(after);
  const json = inline?.[2] ?? (input ? after.slice(input.index + input[0].length) : after);
  const args = objectIn(json);
  if (name === '') return broken(thought, 'the Action names no tool');
  if (args) return { kind: 'call', thought, call: { id, tool, arguments: args } };
  if (json.trim() === '') return { kind: 'call', thought, call: { id, tool, arguments: {} } };
  return broken(thought, `the Action Input is no JSON object: ${json.trim().slice(0, 200)}`);
}

/** `<tool_call>{"name", "arguments"}</tool_call>`, and `<invoke name="…"><parameter name="…">…</parameter></invoke>`. */
function readTagged(text: string, tagged: RegExpExecArray, id: string, tools: readonly string[]): Written {
  const [, , attributes = '', body = ''] = tagged;
  const thought = withoutLabel(text.slice(0, tagged.index));
  const named = /name\s*=\s*["']?([\w.-]+)/.exec(attributes)?.[1];
  const object = objectIn(body);
  const name = named ?? String(object?.name ?? object?.tool ?? '');
  if (name === '') return broken(thought, 'the call names no tool');
  const tool = known(name, tools);
  const inner = object?.arguments ?? object?.parameters ?? object?.input ?? (named ? object : undefined);
  if (typeof inner === 'string') return { kind: 'call', thought, call: readArguments(id, tool, inner) };
  if (isObject(inner)) return { kind: 'call', thought, call: { id, tool, arguments: inner } };
  const parameters = [
    ...body.matchAll(/<parameter\s+name\s*=\s*["']?([\w.-]+)["']?\s*>([\s\S]*?)<\/parameter>/gi),
  ];
  const args = Object.fromEntries(parameters.map(([, key = '', value = '']) => [key, parameterOf(value)]));
  return { kind: 'call', thought, call: { id, tool, arguments: args } };
}

function parameterOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trim();
  }
}

/** The first whole object in a text, whatever stands around it. */
function objectIn(text: string): JsonObject | undefined {
  for (let start = text.indexOf('{'); start >= 0; start = text.indexOf('{', start + 1)) {
    const end = endOfObject(text, start);
    if (end === undefined) return undefined;
    try {
      const value: unknown = JSON.parse(text.slice(start, end));
      if (isObject(value)) return value;
    } catch {
      // the next brace may begin a better one
    }
  }
  return undefined;
}

function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let isString = false;
  for (let at = start; at < text.length; at += 1) {
    const letter = text[at];
    if (isString) {
      if (letter === '\\') at += 1;
      else if (letter === '"') isString = false;
    } else if (letter === '"') isString = true;
    else if (letter === '{') depth += 1;
    else if (letter === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}

/** The listed name where the model changed only its case or left the server away. */
function known(name: string, tools: readonly string[]): string {
  if (tools.includes(name)) return name;
  const alike = tools.filter(
    (tool) => tool.toLowerCase() === name.toLowerCase() || tool.endsWith(`__${name}`),
  );
  return alike.length === 1 && alike[0] ? alike[0] : name;
}

const isNone = (action: string) => /^\W*(none|n\/a|no action.*|finish)?\W*$/i.test(action);
const withoutLabel = (text: string) => text.replace(THOUGHT, '').trim();
const broken = (thought: string, fault: string): Written => ({ kind: 'broken', thought, fault });
