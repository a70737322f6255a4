import { openEvents, sendEvent, startModelServer } from './support/model-server.mjs';
import { scriptOf } from './support/script.mjs';

/**
 * A local server that speaks OpenAI's Responses API, streaming only; each request gets the next turn of the script.
 * @param {import('./support/model-server.mjs').Turn[]} turns
 */
export async function startFakeOpenAi(turns) {
  const script = scriptOf(turns);
  const answer = (response, request) => stream(response, script.take(lastResult(request)).map(toItem));
  return { ...(await startModelServer(/^\/v1\/responses$/, answer)), turnsLeft: script.left };
}

function lastResult(request) {
  const output = request.input.findLast((item) => item.type === 'function_call_output')?.output ?? '';
  return Array.isArray(output) ? output.map((part) => part.text ?? '').join('\n') : output;
}

let count = 0;

function toItem(step) {
  const id = `item_${++count}`;
  if (!step.use) {
    const content = [{ type: 'output_text', text: step.say, annotations: [] }];
    return { type: 'message', id, role: 'assistant', content };
  }
  const call = { namespace: step.namespace, name: step.use, arguments: JSON.stringify(step.input) };
  return { type: 'function_call', id, call_id: `call_${count}`, ...call };
}

function stream(response, output) {
  const about = { id: `resp_${++count}`, object: 'response' };
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 20,
  };
  openEvents(response);
  sendEvent(response, 'response.created', { response: { ...about, status: 'in_progress', output: [] } });
  for (const [output_index, item] of output.entries()) {
    sendEvent(response, 'response.output_item.added', { output_index, item });
    sendEvent(response, 'response.output_item.done', { output_index, item });
  }
  sendEvent(response, 'response.completed', { response: { ...about, status: 'completed', output, usage } });
  response.end();
}
