import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { messageOf, RequestError, request } from '../net/request';
import { isLocked, lock, useIsLocked } from './decision-lock';

export type Remember = 'arguments' | 'tool';

interface Decision {
  accept: boolean;
  note?: string;
  remember?: Remember;
  /** In the place of those that were proposed. */
  arguments?: Record<string, unknown>;
}

/** One decision about one card. The first answer counts, wherever it was given. */
export function useDecide(id: string) {
  const queries = useQueryClient();
  const [isSending, setSending] = useState(false);
  const [fault, setFault] = useState<string>();
  const isPaused = useIsLocked();
  const decide = async ({ note, ...decision }: Decision) => {
    if (isSending || isLocked()) return;
    lock();
    setSending(true);
    try {
      await request(`/api/proposals/${id}`, {
        method: 'POST',
        body: { ...decision, ...(note ? { note } : {}) },
      });
    } catch (error) {
      setFault(
        error instanceof RequestError && error.status === 404
          ? 'Somebody else has decided already.'
          : messageOf(error),
      );
    } finally {
      setSending(false);
      void queries.invalidateQueries({ queryKey: ['proposals'] });
    }
  };
  return { decide, fault, isBlocked: isSending || isPaused };
}

/** True until that time. */
export function useLock(until: number): boolean {
  const [, again] = useState(0);
  useEffect(() => {
    const left = until - Date.now();
    if (left <= 0) return;
    const timer = setTimeout(() => again((n) => n + 1), left + 10);
    return () => clearTimeout(timer);
  }, [until]);
  return until > Date.now();
}
