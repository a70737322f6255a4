import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Bridged, MODES, type ServerEntry, startBridged } from './bridged.js';
import type { Turn } from './model-server.mjs';

interface ScriptedModel {
  url: string;
  turnsLeft(): number;
  stop(): Promise<void>;
}

/** What one headless run of an agent is given. */
export interface Prompt {
  /** Goes into its config as the server "bridge". */
  entry: ServerEntry;
  /** Of the model's API. */
  modelUrl: string;
  /** An empty folder, to be its home and its work folder. */
  home: string;
}

export interface Agent {
  startModel(turns: Turn[]): Promise<ScriptedModel>;
  /** The name by which the model calls a tool of the server "bridge". */
  nameOf(tool: string): { use: string; namespace?: string };
  /** Runs it and answers its final text. */
  ask(prompt: Prompt): Promise<string>;
}

/** The contract of every agent: its model's call goes out through the bridge, and the answer comes back to the model. */
export function describeAgent(name: string, agent: Agent): void {
  describe(name, () => {
    let bridged: Bridged;
    let home: string;
    beforeAll(async () => {
      bridged = await startBridged();
    });
    afterAll(() => bridged?.stop());
    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), 'mcpbridge-agent-'));
    });
    afterEach(() => rm(home, { recursive: true, force: true }));

    test.each(MODES)('hands the answer of a tool to its model in $mode mode', async ({ mode, echo }) => {
      const message = `grüße 🦊 "${randomUUID()}"`;
      const model = await agent.startModel([
        [{ say: 'I will use the tool.' }, { ...agent.nameOf(echo), input: { message } }],
        (result) => [{ say: `The tool said: ${result}` }],
      ]);
      try {
        const answer = await agent.ask({ entry: bridged.entry(mode), modelUrl: model.url, home });
        expect(answer).toMatch(/^The tool said: /);
        expect(answer).toContain(`Echo: ${message}`);
        expect(model.turnsLeft()).toBe(0);
      } finally {
        await model.stop();
      }
    });
  });
}
