import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import { describeClient, type Task } from './support/describe-client.js';
import { installPython } from './support/install.js';
import { run } from './support/run.js';

// Apart, because the adapters still want the first generation of the SDK.
const first = { mcp: '1.30.0', 'langchain-mcp-adapters': '0.3.2', 'langchain-core': '1.8.3' };
const second = { mcp: '2.3.0' };

const driver = (name: string) => fileURLToPath(new URL(`./drivers/${name}.py`, import.meta.url));

async function drive(python: Promise<string>, name: string, task: Task, ...more: string[]) {
  return JSON.parse(await run(await python, [driver(name), JSON.stringify(task), ...more]));
}

describeClient('Python SDK 1.x', (task) => drive(installPython('python', first), 'mcp_v1', task));

describeClient('langchain-mcp-adapters', (task) =>
  drive(installPython('python', first), 'langchain_adapters', task),
);

const versions = { auto: '2026-07-28', legacy: '2025-11-25' } as const;

for (const mode of ['auto', 'legacy'] as const) {
  describeClient(`Python SDK 2.x, ${mode}`, async (task) => {
    const outcome = await drive(installPython('python-v2', second), 'mcp_v2', task, mode);
    expect(outcome.version).toBe(versions[mode]);
    return outcome;
  });
}
