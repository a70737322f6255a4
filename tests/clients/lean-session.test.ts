import { existsSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { ClientName } from '@mcpbridge/agent-session';
import { verifies } from '../requirements.js';
import { root } from '../support/processes.js';
import { LAUNCHED, settleIn } from './support/launched.js';
import { run } from './support/run.js';

/** The sample app as a person runs it, with the client's model scripted. */
async function runSample(name: ClientName): Promise<void> {
  const client = LAUNCHED.find((candidate) => candidate.name === name);
  if (!client) throw new Error(`There is no client "${name}".`);
  const household = await settleIn(client, [
    [{ ...client.nameOf('count_fruit'), input: { fruit: 'apple' } }],
    [{ ...client.nameOf('sell_fruit'), input: { fruit: 'apple', count: 9 } }],
    [{ ...client.nameOf('sell_fruit'), input: { fruit: 'apple', count: 2 } }],
    (result) => [{ say: `Sold: ${result}` }],
  ]);
  try {
    const { home, env, trace } = household;
    const app = `${root}/examples/lean-session/app.mjs`;
    const output = await run(process.execPath, [app, name, 'Sell two apples.'], { cwd: home, env });
    expect(output).toContain('→ count_fruit {"fruit":"apple"}\n← {"fruit":"apple","count":5}\n');
    expect(output).toContain('← There are not so many of apple.\n[code: TOOL_FAILED, layer: tool]\n');
    expect(output).toContain('→ sell_fruit {"fruit":"apple","count":2}\n← 3 left\n');
    expect(output).toMatch(/Sold: .*3 left\s*$/s);
    expect(household.turnsLeft()).toBe(0);
    expect(existsSync(trace)).toBe(false);
  } finally {
    await household.leave();
  }
}

verifies('lean.claude', () => runSample('claude'));
verifies('lean.codex', () => runSample('codex'));
