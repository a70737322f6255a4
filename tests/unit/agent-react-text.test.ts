import { expect, test } from '@jest/globals';
import { readReact } from '@mcpbridge/agent/brains/react-text.js';

const TOOLS = ['notes__search', 'notes__add', 'echo'];
const read = (text: string) => readReact(text, 'id', TOOLS);
const call = (tool: string, args: object, thought = expect.anything()) => ({
  kind: 'call',
  thought,
  call: { id: 'id', tool, arguments: args },
});

test.each([
  ['the form itself', 'Thought: I look.\nAction: notes__search\nAction Input: {"q": "birds"}'],
  ['in bold', '**Thought:** I look.\n**Action:** notes__search\n**Action Input:** {"q": "birds"}'],
  [
    'in other cases and with fences',
    'thought: I look.\naction: `notes__search`\naction input:\n```json\n{"q": "birds"}\n```',
  ],
  ['as a call on one line', 'Thought: I look.\nAction: notes__search({"q": "birds"})'],
  ['with an underscore', 'Thought: I look.\nAction: notes__search\nAction_Input: {"q": "birds"}'],
  ['without the server', 'Thought: I look.\nAction: search\nAction Input: {"q": "birds"}'],
  [
    'with an invented observation',
    'Thought: I look.\nAction: notes__search\nAction Input: {"q": "birds"}\nObservation: none\nFinal Answer: none',
  ],
  [
    'with words after the object',
    'Thought: I look.\nAction: notes__search\nAction Input: {"q": "birds"} (in the notes)',
  ],
  ['tagged', 'I look.\n<tool_call>{"name": "notes__search", "arguments": {"q": "birds"}}</tool_call>'],
  ['tagged and cut', 'I look.\n<tool_call>{"name": "notes__search", "arguments": {"q": "birds"}}'],
  [
    'tagged with a text for arguments',
    'I look.<function_call>{"name": "notes__search", "arguments": "{\\"q\\": \\"birds\\"}"}</function_call>',
  ],
  [
    'tagged with parameters',
    'I look.\n<invoke name="notes__search"><parameter name="q">birds</parameter></invoke>',
  ],
])('a call %s is read', (_name, text) => {
  expect(read(text)).toEqual(call('notes__search', { q: 'birds' }, 'I look.' as never));
});

test('a call without arguments is one', () => {
  expect(read('Action: echo')).toEqual(call('echo', {}, '' as never));
  expect(read('Action: echo\nAction Input:')).toEqual(call('echo', {}, '' as never));
});

test('braces and quotes in texts do not confuse it', () => {
  const args = { q: 'a } b { "c" \\ d' };
  expect(read(`Action: echo\nAction Input: ${JSON.stringify(args)}`)).toEqual(
    call('echo', args, '' as never),
  );
});

test.each([
  ['Thought: I know.\nFinal Answer: 42', '42'],
  ['**Final Answer:** 42\nand more', '42\nand more'],
  ['Thought: I know.\nAction: None\nFinal Answer: 42', '42'],
  ['It is 42.', 'It is 42.'],
])('an answer is read: %j', (text, answer) => {
  expect(read(text)).toMatchObject({ kind: 'answer', text: answer });
});

test.each([
  ['', 'it is empty'],
  ['Thought: I wonder.', 'neither an Action nor a Final Answer'],
  ['Action: echo\nAction Input: {"text": ', 'no JSON object'],
  ['Action: echo\nAction Input: [1]', 'no JSON object'],
  ['Action Input: {}', 'without an Action'],
  ['<tool_call>{"arguments": {}}</tool_call>', 'names no tool'],
])('what is broken is told: %j', (text, fault) => {
  expect(read(text)).toMatchObject({ kind: 'broken', fault: expect.stringContaining(fault) });
});
