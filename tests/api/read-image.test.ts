import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const ends: (() => Promise<void>)[] = [];

afterAll(async () => {
  await Promise.allSettled(ends.map((end) => end()));
});

interface Asked {
  url: string | undefined;
  headers: Record<string, unknown>;
  body: { model: string; messages: unknown };
}

/** Speaks both formats; keeps what it was asked. */
async function startModel(): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server: Server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const { url, headers } = request;
    asked.push({ url, headers, body: JSON.parse(text) });
    if (JSON.parse(text).model === 'blind') {
      response.writeHead(404).end('{"error":{"message":"no such model"}}');
      return;
    }
    const openai = { choices: [{ message: { role: 'assistant', content: 'A red dot.' } }] };
    const anthropic = { type: 'message', content: [{ type: 'text', text: 'A red dot.' }] };
    response.end(JSON.stringify(url?.endsWith('/messages') ? anthropic : openai));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => void server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

async function start(env: Record<string, string> = {}): Promise<RunningOrchestrator> {
  const running = await startOrchestrator({ env });
  ends.push(() => running.stop());
  const own = join(running.workspace, 'sessions/looker/pictures');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'dot.png'), PNG);
  writeFileSync(join(own, 'fake.png'), 'this is text');
  writeFileSync(join(running.workspace, 'other.png'), PNG);
  return running;
}

const look = async (running: RunningOrchestrator, args: object) =>
  (await api(running, 'looker').post('/api/tools/custom/read_image').send(args)).body;

verifies(
  'read-image.model',
  async () => {
    const model = await startModel();
    const env = { VISION_URL: model.url, VISION_MODEL: 'seer', VISION_KEY: 'of-the-model' };
    const openai = await start(env);
    const question = { filepath: 'pictures/dot.png', query: 'Which colour?' };
    expect(await look(openai, question)).toMatchObject({ success: true, result: 'A red dot.' });
    const data = PNG.toString('base64');
    expect(model.asked.pop()).toMatchObject({
      url: '/v1/chat/completions',
      headers: { authorization: 'Bearer of-the-model' },
      body: {
        model: 'seer',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
              { type: 'text', text: 'Which colour?' },
            ],
          },
        ],
      },
    });
    expect(await look(openai, { ...question, model_id: 'blind' })).toMatchObject({
      success: false,
      result: expect.stringMatching(/answered 404: .*no such model/),
    });
    expect(openai.output()).not.toContain('of-the-model');

    const anthropic = await start({ ...env, VISION_API: 'anthropic' });
    expect(await look(anthropic, { filepath: 'pictures/dot.png' })).toMatchObject({ result: 'A red dot.' });
    expect(model.asked.pop()).toMatchObject({
      url: '/v1/messages',
      headers: { 'x-api-key': 'of-the-model', 'anthropic-version': '2023-06-01' },
      body: {
        model: 'seer',
        messages: [
          {
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
              { type: 'text', text: expect.stringContaining('Describe') },
            ],
          },
        ],
      },
    });
  },
  60_000,
);

test('without a model the image itself is the answer; what is none, and what is not the session’s, is refused', async () => {
  const running = await start();
  expect((await look(running, { filepath: 'pictures/dot.png' })).content).toEqual([
    { type: 'image', data: PNG.toString('base64'), mimeType: 'image/png' },
  ]);
  expect(await look(running, { filepath: 'pictures/fake.png' })).toMatchObject({
    success: false,
    result: '"pictures/fake.png" is no PNG, JPEG, GIF or WebP image.',
  });
  for (const filepath of ['../../other.png', join(running.workspace, 'other.png')])
    expect((await look(running, { filepath })).error).toMatchObject({ code: 'PATH_NOT_ALLOWED' });
  expect((await look(running, { filepath: 'pictures/none.png' })).error).toMatchObject({ code: 'NOT_FOUND' });

  const listed = async (session: string) =>
    (await api(running, session).get('/api/tools')).body.tools.map(({ name }: { name: string }) => name);
  expect(await listed('looker')).toContain('agent_browser');
  expect(await listed('looker')).not.toContain('read_image');
  const made = await api(running)
    .post('/api/sessions')
    .send({ tools: { allow: ['read_image'] } });
  expect(await listed(made.body.id)).toEqual(['read_image']);
}, 30_000);
