import type { Caller, CallListener } from '../../provider.js';

/** On whose behalf a request runs; absent for our own. */
export interface Origin {
  caller: Caller;
  listener?: CallListener;
}

/** With whose request a message came; null: with none of a caller that still runs; undefined: nothing says so. */
export type During = Origin | null | undefined;
