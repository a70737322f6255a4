import { messageOf } from '@mcpbridge/shared/errors.js';
import type { RawHeaders } from './attempt.js';
import type { BridgeLog } from './bridge-log.js';
import type { Answer } from './connection.js';
import { EventReader } from './event-reader.js';
import { type OnMessage, readEvents } from './receive.js';
import { pause, type Stop } from './stop.js';

interface ServerStreamOptions {
  /** `GET /mcp`, once, with these headers besides its own. */
  open(headers: RawHeaders): Promise<Answer>;
  /** Opens a session that was lost; the stream of the new one is then followed instead of this. */
  reopen(): Promise<void>;
  onMessage: OnMessage;
  /** Ends it. */
  stop: Stop;
  log: BridgeLog;
}

const ACCEPT: RawHeaders = ['Accept', 'text/event-stream'];
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
const NO_STREAM = 405;
const NO_SESSION = 404;

/** Passes on what the orchestrator says unasked, for as long as the session lives; never rejects. */
export async function followServerStream(options: ServerStreamOptions): Promise<void> {
  const { stop, log } = options;
  let pauseMs = FIRST_PAUSE_MS;
  let lastId: string | undefined;
  const reader = new EventReader(({ data, id }) => {
    lastId = id ?? lastId;
    options.onMessage([data]);
  });
  while (!stop.isFired) {
    try {
      const answer = await options.open(lastId ? [...ACCEPT, 'Last-Event-ID', lastId] : ACCEPT);
      if (answer.status === NO_STREAM) return;
      if (answer.status === NO_SESSION) await options.reopen();
      else if (answer.refusal) log.note(`GET /mcp was answered ${answer.status}`);
      else {
        pauseMs = FIRST_PAUSE_MS;
        await readEvents(answer.stream, reader);
      }
    } catch (error) {
      // Down, or restarting: the calls tell the client, this only comes back.
      if (!stop.isFired) log.note(`GET /mcp ended: ${messageOf(error)}`);
    }
    // Stopped meanwhile: the loop sees it.
    if (!stop.isFired) await pause(reader.retryMs ?? pauseMs, stop).catch(() => {});
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}
