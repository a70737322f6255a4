import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Bridged, MODES, type ServerEntry, startBridged } from './bridged.js';

/** What a client is asked to do with the server that its config names. */
export interface Task {
  entry: ServerEntry;
  tool: string;
  args: Record<string, string>;
}

export interface Outcome {
  /** The names that the server listed. */
  tools: string[];
  /** The text of the tool's answer. */
  text: string;
}

/** The contract of every client library: it spawns the bridge, lists the tools and gets one's answer, in both modes. */
export function describeClient(name: string, use: (task: Task) => Promise<Outcome>): void {
  describe(name, () => {
    let bridged: Bridged;
    beforeAll(async () => {
      bridged = await startBridged();
    });
    afterAll(() => bridged?.stop());

    test.each(MODES)(
      'lists the tools and gets the answer of one in $mode mode',
      async ({ mode, echo, listed }) => {
        const message = `grüße 🦊 "${randomUUID()}"`;
        const outcome = await use({ entry: bridged.entry(mode), tool: echo, args: { message } });
        expect(outcome.text).toBe(`Echo: ${message}`);
        expect(outcome.tools).toEqual(listed);
      },
    );
  });
}
