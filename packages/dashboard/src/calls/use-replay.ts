import { useState } from 'react';
import { useAddress } from '../address/address';
import { request } from '../net/request';
import type { ListedTool } from './use-tool-of';

/** Only reads, or says that twice is as once and nothing is destroyed. */
export function mayRepeat({ annotations = {} }: ListedTool): boolean {
  if (annotations.destructiveHint === true) return false;
  return annotations.readOnlyHint === true || annotations.idempotentHint === true;
}

interface Replayed {
  id: string;
}

/** Runs a call again and goes to the new one, which is linked with the old one both ways. */
export function useReplay(id: string) {
  const { set, go, path } = useAddress();
  const [isRunning, setRunning] = useState(false);
  const run = async (args: unknown, session?: 'own' | 'fresh') => {
    setRunning(true);
    try {
      const replayed = await request<Replayed>(`/api/calls/${encodeURIComponent(id)}/replay`, {
        method: 'POST',
        body: {
          ...(args === undefined ? {} : { arguments: args }),
          ...(session === 'fresh' ? { session: 'fresh' } : {}),
        },
      });
      if (path.startsWith('/calls/')) go(`/calls/${replayed.id}`);
      else set({ call: replayed.id, tab: undefined });
    } finally {
      setRunning(false);
    }
  };
  return { run, isRunning };
}
