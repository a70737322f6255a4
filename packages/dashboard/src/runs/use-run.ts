import type { Usage } from '@mcpbridge/shared/conversation.js';
import type { RunStep } from '@mcpbridge/shared/run-step.js';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { onHouseEvent } from '../net/house-events';
import { messageOf, RequestError } from '../net/request';
import { serverEvents } from '../net/server-events';
import { type Item, RunLog } from './run-log';
import { isOver, type RunInfo } from './use-runs';

export interface Followed {
  items: readonly Item[];
  outcomes: ReadonlyMap<string, boolean>;
  usage: Usage;
  /** As it ended or waits; undefined while it goes on. */
  end: RunInfo | undefined;
  fault: string | undefined;
}

/** Words are painted ten times a second, however fast they come. */
const PAINT_EVERY_MS = 100;
const AGAIN_MS = 2000;
const LOOK_EVERY_MS = 5000;

/** A run step by step, as it happens, to its end; one that waits is followed on as soon as somebody has decided. */
export function useRun(id: string): Followed {
  const queries = useQueryClient();
  const [followed, setFollowed] = useState<Followed>(() => shown(new RunLog()));
  useEffect(() => {
    const over = new AbortController();
    const log = new RunLog();
    let end: RunInfo | undefined;
    let fault: string | undefined;
    let painting: ReturnType<typeof setTimeout> | undefined;
    const paint = () => {
      painting ??= setTimeout(() => {
        painting = undefined;
        setFollowed(shown(log, end, fault));
      }, PAINT_EVERY_MS);
    };
    void follow();
    return () => {
      over.abort();
      clearTimeout(painting);
    };

    async function follow(): Promise<void> {
      let last: string | undefined;
      while (!over.signal.aborted) {
        await untilVisible(over.signal);
        log.dropUnfinished();
        const round = new AbortController();
        const now = AbortSignal.any([over.signal, round.signal]);
        const look = () => document.hidden && round.abort();
        // A hidden tab holds no connection: a browser has six for all its tabs.
        document.addEventListener('visibilitychange', look);
        try {
          for await (const { event, id: at, data } of serverEvents(
            `/api/agent/runs/${id}/events`,
            last,
            now,
          )) {
            fault = undefined;
            last = at ?? last;
            if (event === 'step') log.add(data as RunStep);
            if (event === 'end') end = data as RunInfo;
            else if (event === 'step') end = undefined;
            paint();
          }
        } catch (error) {
          if (over.signal.aborted) return;
          if (!now.aborted) fault = messageOf(error);
          paint();
          if (error instanceof RequestError && error.status >= 400) return;
        } finally {
          document.removeEventListener('visibilitychange', look);
        }
        if (now.aborted) continue;
        void queries.invalidateQueries({ queryKey: ['agent'] });
        if (end && isOver(end)) return;
        await (end?.state === 'waiting' ? untilDecided(over.signal) : pause(AGAIN_MS, over.signal));
      }
    }
  }, [id, queries]);
  return followed;
}

function shown(log: RunLog, end?: RunInfo, fault?: string): Followed {
  return { items: [...log.items], outcomes: new Map(log.outcomes), usage: log.usage, end, fault };
}

function untilVisible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function untilDecided(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = onHouseEvent((event) => {
      if (event.type === 'proposal' && event.proposal.state !== 'waiting') done();
    });
    const timer = setTimeout(done, LOOK_EVERY_MS);
    function done() {
      stop();
      clearTimeout(timer);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
