import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { AppError } from '@mcpbridge/shared/errors.js';
import type { Recordings } from '../../recordings/recordings.js';
import type { Session } from '../../sessions/session.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { CallQueries } from '../../store/call-queries.js';
import { sendJson } from '../reply.js';
import type { PlainRoute, RouteInput, StreamRoute } from '../routes.js';

const REPLAY_MS = 60 * 60_000;

interface Deps {
  recordings: Recordings;
  sessions: Sessions;
  queries: CallQueries;
}

export function recordingRoutes({ recordings, sessions, queries }: Deps): (PlainRoute | StreamRoute)[] {
  const sessionOf = async ({ params: { id = '' }, principal }: RouteInput): Promise<Session> => {
    await sessions.row(principal, id);
    return sessions.enter(principal, id);
  };
  return [
    {
      method: 'POST',
      path: '/api/sessions/{id}/recording',
      summary:
        'Write down every frame between this session and its servers, and every call, until it is ended',
      run: async (input) => {
        const name = recordings.start(await sessionOf(input));
        return { status: 201, body: { name, status: 'recording' } };
      },
    },
    {
      method: 'DELETE',
      path: '/api/sessions/{id}/recording',
      summary: 'End the recording',
      run: async (input) => {
        const counts = await recordings.stop(await sessionOf(input));
        if (!counts)
          throw new AppError('NOT_FOUND', `The session "${input.params.id}" is not being recorded.`);
        return { body: { ...counts, status: 'recorded' } };
      },
    },
    {
      method: 'GET',
      path: '/api/recordings',
      summary: 'All recordings, latest first',
      run: async () => ({ body: { recordings: await recordings.list() } }),
    },
    {
      method: 'GET',
      path: '/api/recordings/{name}',
      summary: 'A recording, one JSON object a line',
      run: async ({ params: { name = '' } }) => {
        const file = recordings.fileOf(name);
        const found = await stat(file).catch(() => undefined);
        if (!found) throw new AppError('NOT_FOUND', `There is no recording "${name}".`);
        return {
          write(response) {
            response.writeHead(200, { 'content-type': 'application/jsonl' });
            createReadStream(file)
              .on('error', () => response.destroy())
              .pipe(response);
          },
        };
      },
    },
    {
      method: 'POST',
      path: '/api/recordings',
      summary: 'Take a recording that was made elsewhere: the body is its file',
      query: { name: 'Under which it is listed, with .jsonl at its end' },
      async stream(request, response) {
        const name = new URL(request.url ?? '', 'http://localhost').searchParams.get('name') ?? '';
        sendJson(response, 201, await recordings.take(name, request));
      },
    },
    {
      method: 'DELETE',
      path: '/api/recordings/{name}',
      summary: 'Remove a recording',
      run: async ({ params: { name = '' } }) => {
        await recordings.remove(name);
        return { body: { name, status: 'removed' } };
      },
    },
    {
      method: 'GET',
      path: '/api/recordings/{name}/calls',
      summary: 'What a recording holds: who, when, and its calls without their payloads',
      run: async ({ params: { name = '' } }) => ({ body: await recordings.open(name) }),
    },
    {
      method: 'GET',
      path: '/api/recordings/{name}/calls/{id}',
      summary: 'One call of a recording: arguments, answer and every frame of it',
      run: async ({ params: { name = '', id = '' } }) => ({ body: await recordings.callOf(name, id) }),
    },
    {
      method: 'GET',
      path: '/api/calls/{id}/frames',
      summary: 'The frames of a call, both ways, where its session was being recorded',
      run: async ({ params: { id = '' } }) => {
        const call = await queries.get(id);
        if (!call) throw new AppError('NOT_FOUND', `There is no call "${id}".`);
        return { body: (await recordings.framesOf(call.session, id)) ?? { frames: [] } };
      },
    },
    {
      method: 'POST',
      path: '/api/recordings/{name}/replay',
      summary: 'Make the recorded calls again, and tell where the answers are others',
      run: async ({ params: { name = '' }, principal }) => {
        const session = await sessions.create(principal, { policy: {}, expiresAt: Date.now() + REPLAY_MS });
        try {
          const calls = await recordings.replay(name, session);
          const differ = calls.filter(({ differences }) => differences.length > 0).length;
          return { body: { name, session: session.sessionId, calls, differ } };
        } finally {
          await sessions.end(session);
        }
      },
    },
  ];
}
