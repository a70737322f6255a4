import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a model answers. */
export interface ModelAnswer {
  text?: string;
  thinking?: string;
  calls?: { tool: string; args: object }[];
  /** Instead of an answer. */
  fails?: { status: number; headers?: Record<string, string>; body?: object };
  /** The stream ends after so many of its bytes, without a word. */
  cutAfter?: number;
  /** An error as an event in the middle of the stream. */
  breaks?: boolean;
}

/** What a model was asked, the same for every API. */
export interface ModelQuestion {
  api: 'anthropic' | 'chat' | 'completion';
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies as they came
  body: any;
  /** All that it was told, as one text. */
  all: string;
  /** Texts of the tool results, oldest first. */
  results: string[];
  /** What it was shown, as `data:` addresses. */
  images: string[];
  tools: string[];
}

export interface ModelServer {
  url: string;
  questions: ModelQuestion[];
  stop(): Promise<void>;
}

/**
 * A local server that speaks the streaming formats of Anthropic's Messages, of OpenAI's chat completions and of plain
 * completions, as recorded from the real ones, cut into pieces at places where no client expects it.
 */
export async function startModel(
  answer: (question: ModelQuestion) => ModelAnswer | Promise<ModelAnswer>,
): Promise<ModelServer> {
  const questions: ModelQuestion[] = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await readAll(request));
    const api = request.url?.includes('/messages')
      ? 'anthropic'
      : request.url?.includes('/chat/')
        ? 'chat'
        : 'completion';
    const question = read(api, body);
    questions.push(question);
    const said = await answer(question);
    if (said.fails) {
      response.writeHead(said.fails.status, { 'content-type': 'application/json', ...said.fails.headers });
      response.end(
        JSON.stringify(said.fails.body ?? { type: 'error', error: { type: 'error', message: 'no' } }),
      );
    } else await send(response, { anthropic, chat, completion }[api](said), said);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    questions,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Settings of an orchestrator whose agent thinks with this server. */
export const brainOf = (
  api: 'anthropic' | 'openai' | 'text-react',
  { url }: ModelServer,
): Record<string, string> =>
  api === 'anthropic'
    ? { AGENT_BRAIN: 'anthropic:fake', ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none' }
    : { AGENT_BRAIN: `${api}:fake`, OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none' };

async function send(response: ServerResponse, stream: string, { cutAfter }: ModelAnswer): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  const bytes = Buffer.from(stream).subarray(0, cutAfter);
  // In the middle of lines, of events, of characters.
  const sizes = [1, 7, 2, 61, 3, 180, 5];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    response.write(bytes.subarray(at, at + size));
    at += size;
    await new Promise((next) => setImmediate(next));
  }
  if (cutAfter === undefined) response.end();
  else response.destroy();
}

const event = (type: string, data: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const pieces = (text: string) => text.match(/[\s\S]{1,9}/gu) ?? [''];
let count = 0;

function anthropic({ text, thinking, calls = [], breaks }: ModelAnswer): string {
  const usage = {
    input_tokens: 12,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 8,
    output_tokens: 1,
  };
  const message = { id: `msg_${++count}`, type: 'message', role: 'assistant', model: 'fake', content: [] };
  let out = event('message_start', {
    message: { ...message, stop_reason: null, stop_sequence: null, usage },
  });
  out += event('ping', {});
  let index = 0;
  const block = (content_block: object, deltas: object[]) => {
    out += event('content_block_start', { index, content_block });
    for (const delta of deltas) out += event('content_block_delta', { index, delta });
    out += event('content_block_stop', { index });
    index += 1;
  };
  if (thinking)
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...pieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ]);
  if (text)
    block(
      { type: 'text', text: '' },
      pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
    );
  if (breaks) return out + event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
  for (const { tool, args } of calls)
    block({ type: 'tool_use', id: `toolu_${++count}`, name: tool, input: {} }, [
      { type: 'input_json_delta', partial_json: '' },
      ...pieces(JSON.stringify(args)).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    ]);
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn';
  out += event('message_delta', {
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 15 },
  });
  return out + event('message_stop', {});
}

function chat({ text, thinking, calls = [], breaks }: ModelAnswer): string {
  const about = { id: `chatcmpl-${++count}`, object: 'chat.completion.chunk', created: 1, model: 'fake' };
  const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
  const chunk = (delta: object, finish_reason: string | null = null) =>
    data({ ...about, choices: [{ index: 0, delta, finish_reason }] });
  let out = chunk({ role: 'assistant', content: null });
  for (const piece of thinking ? pieces(thinking) : []) out += chunk({ reasoning_content: piece });
  for (const piece of text ? pieces(text) : []) out += chunk({ content: piece });
  if (breaks) return `${out}${data({ error: { message: 'server_error: slot is gone', code: 500 } })}`;
  for (const [index, { tool, args }] of calls.entries()) {
    const head = { index, id: `call_${++count}`, type: 'function', function: { name: tool, arguments: '' } };
    out += chunk({ tool_calls: [head] });
    for (const piece of pieces(JSON.stringify(args)))
      out += chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  out += chunk({}, calls.length > 0 ? 'tool_calls' : 'stop');
  const usage = { prompt_tokens: 20, completion_tokens: 15, total_tokens: 35 };
  return `${out}${data({ ...about, choices: [], usage })}data: [DONE]\n\n`;
}

function completion({ text = '' }: ModelAnswer): string {
  const about = { id: `cmpl-${++count}`, object: 'text_completion', created: 1, model: 'fake' };
  const data = (value: object) => `data: ${JSON.stringify({ ...about, ...value })}\n\n`;
  const choice = (piece: string, finish_reason: string | null) =>
    data({ choices: [{ index: 0, text: piece, logprobs: null, finish_reason }] });
  return `${pieces(text)
    .map((piece) => choice(piece, null))
    .join('')}${choice('', 'stop')}data: [DONE]\n\n`;
}

// biome-ignore lint/suspicious/noExplicitAny: as they came
function read(api: ModelQuestion['api'], body: any): ModelQuestion {
  if (api === 'completion') {
    const results = [...String(body.prompt).matchAll(/^Observation: (.*)$/gm)].map(([, text = '']) => text);
    return { api, body, all: body.prompt, results, images: [], tools: [] };
  }
  const all = JSON.stringify([body.system, body.messages]);
  // biome-ignore lint/suspicious/noExplicitAny: as they came
  const blocks = body.messages.flatMap((message: any) =>
    Array.isArray(message.content) ? message.content : [],
  );
  const results: string[] =
    api === 'anthropic'
      ? // biome-ignore lint/suspicious/noExplicitAny: as they came
        blocks.filter((block: any) => block.type === 'tool_result').map((block: any) => textOf(block.content))
      : // biome-ignore lint/suspicious/noExplicitAny: as they came
        body.messages.filter(({ role }: any) => role === 'tool').map(({ content }: any) => content);
  // biome-ignore lint/suspicious/noExplicitAny: as they came
  const tools = (body.tools ?? []).map((tool: any) => tool.name ?? tool.function.name);
  // biome-ignore lint/suspicious/noExplicitAny: as they came
  const images = [...blocks, ...blocks.flatMap(({ content }: any) => (Array.isArray(content) ? content : []))]
    .filter((block) => block.type === 'image' || block.type === 'image_url')
    .map(({ source, image_url: image }) => image?.url ?? `data:${source.media_type};base64,${source.data}`);
  return { api, body, all, results, images, tools };
}

// biome-ignore lint/suspicious/noExplicitAny: as they came
const textOf = (content: any): string =>
  // biome-ignore lint/suspicious/noExplicitAny: as they came
  typeof content === 'string' ? content : content.map(({ text = '' }: any) => text).join('');

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
