import type { JailRules } from './jail-rules.js';
import type { Launch } from './sandbox.js';

/** What a jailed thread is made with. */
export interface JailData {
  rules: JailRules;
  filter: Uint8Array;
}

export type Stream = 'stdout' | 'stderr';

/** To the jailed thread. */
export type ToJail =
  | {
      kind: 'start';
      id: number;
      argv: string[];
      cwd: string;
      env: Record<string, string>;
      stdin: Launch['stdin'];
    }
  | { kind: 'feed'; id: number; text: string; isLast: boolean }
  /** The first process is where its limits are: it may become the command. */
  | { kind: 'go'; id: number }
  /** There is room for more of what it prints. */
  | { kind: 'more'; id: number; stream: Stream };

/** From the jailed thread. */
export type FromJail =
  /** `listener`: the file descriptor that its connections are asked for through. */
  | { kind: 'ready'; listener: number | undefined }
  | { kind: 'started'; id: number; pid: number }
  | { kind: 'failed'; id: number; reason: string }
  | { kind: 'printed'; id: number; stream: Stream; chunk: Uint8Array }
  | { kind: 'printed-all'; id: number; stream: Stream }
  | { kind: 'exited'; id: number; code: number | null; signal: NodeJS.Signals | null };
