import { openEvents, sendEvent, sendJson, startModelServer } from './support/model-server.mjs';
import { scriptOf } from './support/script.mjs';

const HARMLESS = {
  '/v1/messages/count_tokens': { input_tokens: 10 },
  '/v1/models': { data: [], has_more: false, first_id: null, last_id: null },
};

/**
 * A local server that speaks Anthropic's Messages API. Each request that offers tools gets the next turn of the
 * script; a tool whose schema is deferred is loaded through ToolSearch first, as the real model does.
 * @param {import('./support/model-server.mjs').Turn[]} turns
 */
export async function startFakeAnthropic(turns) {
  const script = scriptOf(turns);
  const requests = [];
  const answer = (response, request) => {
    requests.push(request);
    // Without tools it is one of the client's own small matters: a title, a check of the quota.
    const steps = request.tools?.length ? nextSteps(script, request) : [{ say: 'ok' }];
    if (request.stream) streamMessage(response, request, steps);
    else sendJson(response, wholeMessage(request, steps));
  };
  const server = await startModelServer(/^\/v1\/messages$/, answer, HARMLESS);
  return {
    ...server,
    turnsLeft: script.left,
    /** The newest answer to a tool call, as the client sent it. */
    lastResult: () => requests.map(newestResult).findLast(Boolean),
    /** The definitions whose schemas the model had in the end: sent along, or loaded through ToolSearch. */
    loadedTools: () => loadedTools(requests.findLast((request) => request.tools?.length)),
  };
}

function nextSteps(script, request) {
  const lastResult = resultText(newestResult(request));
  const known = loadedTools(request).map((tool) => tool.name);
  const wanted = script.peek(lastResult).flatMap((step) => (step.use ? [step.use] : []));
  const missing = wanted.filter((name) => !known.includes(name));
  if (missing.length > 0 && known.includes('ToolSearch') && !wasSearched(request)) {
    return [
      { use: 'ToolSearch', input: { query: `select:${missing.join(',')}`, max_results: missing.length } },
    ];
  }
  return script.take(lastResult);
}

/** A search that found nothing is not made again: the call then shows what the client says to it. */
const wasSearched = (request) => blocksOf(request).some((block) => block.name === 'ToolSearch');

const blocksOf = (request) =>
  request.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));

const newestResult = (request) => blocksOf(request).findLast((block) => block.type === 'tool_result');

function resultText(result) {
  const content = result?.content ?? '';
  return Array.isArray(content) ? content.map((block) => block.text ?? '').join('') : content;
}

function loadedTools(request) {
  const found = blocksOf(request)
    .flatMap((block) => (Array.isArray(block.content) ? block.content : []))
    .flatMap((part) => (part.type === 'tool_reference' ? [part.tool_name] : []));
  return request.tools.filter((tool) => !tool.defer_loading || found.includes(tool.name));
}

let count = 0;
const nextId = () => String(++count).padStart(24, '0');

const toBlock = (step) =>
  step.use
    ? { type: 'tool_use', id: `toolu_${nextId()}`, name: step.use, input: step.input }
    : { type: 'text', text: step.say };

function wholeMessage(request, steps) {
  return {
    id: `msg_${nextId()}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    content: steps.map(toBlock),
    stop_reason: steps.some((step) => step.use) ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 10 },
  };
}

function streamMessage(response, request, steps) {
  const { content, stop_reason, ...message } = wholeMessage(request, steps);
  openEvents(response);
  sendEvent(response, 'message_start', { message: { ...message, content: [], stop_reason: null } });
  sendEvent(response, 'ping', {});
  for (const [index, block] of content.entries()) streamBlock(response, block, index);
  const delta = { stop_reason, stop_sequence: null };
  sendEvent(response, 'message_delta', { delta, usage: { output_tokens: 10 } });
  sendEvent(response, 'message_stop', {});
  response.end();
}

function streamBlock(response, block, index) {
  const isText = block.type === 'text';
  const empty = { ...block, ...(isText ? { text: '' } : { input: {} }) };
  sendEvent(response, 'content_block_start', { index, content_block: empty });
  // In small pieces, which clients must put together.
  for (const [piece] of (isText ? block.text : JSON.stringify(block.input)).matchAll(/.{1,12}/gsu)) {
    const delta = isText
      ? { type: 'text_delta', text: piece }
      : { type: 'input_json_delta', partial_json: piece };
    sendEvent(response, 'content_block_delta', { index, delta });
  }
  sendEvent(response, 'content_block_stop', { index });
}
