import { AppError } from '@mcpbridge/shared/errors.js';
import type { EventBus } from '../../events/event-bus.js';
import type { Follower } from '../../events/follower.js';
import { FOLLOW_QUERY, followOptions } from '../event-follow.js';
import { eventStreamSink } from '../event-sinks.js';
import type { PlainRoute } from '../routes.js';

const KEEP_ALIVE_MS = 15_000;

export function eventRoutes(bus: EventBus, lost: () => number): PlainRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/events',
      summary: 'Everything as it happens, as server-sent events; Last-Event-ID resumes',
      query: FOLLOW_QUERY,
      run: ({ query, headers }) => {
        const lastEventId = headers['last-event-id'];
        const options = followOptions(query, typeof lastEventId === 'string' ? lastEventId : undefined);
        return {
          write(response) {
            let follower: Follower | undefined;
            const sink = eventStreamSink(response, { lost }, () => follower?.wake());
            follower = bus.follow(sink, options);
            const beat = setInterval(() => response.write(': still here\n\n'), KEEP_ALIVE_MS).unref();
            response.on('close', () => {
              clearInterval(beat);
              follower?.end();
            });
          },
        };
      },
    },
    {
      method: 'GET',
      path: '/api/events/ws',
      summary: 'The same over a WebSocket, many events a message',
      query: FOLLOW_QUERY,
      // Those that ask for a WebSocket are answered where connections are upgraded (event-socket.ts).
      run: () => {
        throw new AppError(
          'INVALID_REQUEST',
          '/api/events/ws speaks WebSocket; GET /api/events is the same as server-sent events.',
        );
      },
    },
  ];
}
