import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { BrainFailure } from './brains/failure.js';

/** A failure as runs keep and tell it. */
export function toRunError(thrown: unknown): { code: string; message: string } {
  if (thrown instanceof AppError) return { code: thrown.code, message: thrown.message };
  if (thrown instanceof BrainFailure)
    return { code: `BRAIN_${thrown.kind.toUpperCase()}`, message: thrown.message };
  return { code: 'INTERNAL', message: messageOf(thrown) };
}
