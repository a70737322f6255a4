import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientName } from '@mcpbridge/agent-session';
import { startFakeAnthropic } from '../fake-anthropic.mjs';
import { startFakeGemini } from '../fake-gemini.mjs';
import { startFakeOpenAi } from '../fake-openai.mjs';
import { installNpm } from './install.js';
import type { Turn } from './model-server.mjs';
import { secludedEnv } from './run.js';

interface LaunchedClient {
  name: ClientName;
  startModel(turns: Turn[]): Promise<{ url: string; turnsLeft(): number; stop(): Promise<void> }>;
  /** How its model calls a tool of the session. */
  nameOf(tool: string): { use: string; namespace?: string };
  /** Installs it and answers the command line that starts it. */
  install(): Promise<string[]>;
  /** What a user of it has set up: the model, and a server of their own. Answers variables. */
  setUp(home: string, modelUrl: string, own: OwnServer): Promise<Record<string, string>>;
}

interface OwnServer {
  command: string;
  args: string[];
}

const MODEL = 'claude-sonnet-4-5';

const write = async (home: string, path: string, content: string | object) => {
  await mkdir(join(home, path, '..'), { recursive: true });
  await writeFile(join(home, path), typeof content === 'string' ? content : JSON.stringify(content));
};

export const LAUNCHED: readonly LaunchedClient[] = [
  {
    name: 'claude',
    startModel: startFakeAnthropic,
    nameOf: (tool) => ({ use: `mcp__session__${tool}` }),
    async install() {
      const folder = await installNpm('claude-code', { '@anthropic-ai/claude-code': '2.1.332' });
      return [process.execPath, `${folder}/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs`];
    },
    async setUp(home, modelUrl, own) {
      await write(home, '.claude.json', { mcpServers: { own } });
      await write(home, '.mcp.json', { mcpServers: { own } });
      const traffic = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
      return { ANTHROPIC_BASE_URL: modelUrl, ANTHROPIC_API_KEY: 'none', ...traffic };
    },
  },
  {
    name: 'codex',
    startModel: startFakeOpenAi,
    nameOf: (tool) => ({ namespace: 'mcp__session', use: tool }),
    async install() {
      const folder = await installNpm('codex', { '@openai/codex': '0.171.0' });
      return [process.execPath, `${folder}/node_modules/@openai/codex/bin/codex.js`];
    },
    async setUp(home, modelUrl, own) {
      const lines = [
        'model = "scripted"',
        'model_provider = "local"',
        '[model_providers.local]',
        'name = "local"',
        `base_url = "${modelUrl}/v1"`,
        'wire_api = "responses"',
        '[mcp_servers.own]',
        `command = ${JSON.stringify(own.command)}`,
        `args = ${JSON.stringify(own.args)}`,
      ];
      await write(home, '.codex/config.toml', lines.join('\n'));
      return {};
    },
  },
  {
    name: 'gemini',
    startModel: startFakeGemini,
    nameOf: (tool) => ({ use: `mcp_session_${tool}` }),
    async install() {
      const folder = await installNpm('gemini-cli', { '@google/gemini-cli': '0.61.0' });
      return [process.execPath, `${folder}/node_modules/@google/gemini-cli/bundle/gemini.js`];
    },
    async setUp(home, modelUrl, own) {
      const settings = {
        security: { auth: { selectedType: 'gemini-api-key' } },
        model: { name: 'gemini-2.5-flash' },
        mcpServers: { own: { ...own, trust: true } },
      };
      await write(home, '.gemini/settings.json', `// as people have it\n${JSON.stringify(settings)}`);
      return { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: modelUrl };
    },
  },
  {
    name: 'copilot',
    startModel: startFakeAnthropic,
    nameOf: (tool) => ({ use: `session-${tool}` }),
    async install() {
      const folder = await installNpm('copilot-cli', { '@github/copilot': '1.0.102' });
      return [`${folder}/node_modules/.bin/copilot`];
    },
    async setUp(home, modelUrl, own) {
      const mcpServers = { own: { type: 'local', ...own, tools: ['*'] } };
      await write(home, '.copilot/mcp-config.json', { mcpServers });
      return {
        COPILOT_PROVIDER_BASE_URL: modelUrl,
        COPILOT_PROVIDER_TYPE: 'anthropic',
        COPILOT_PROVIDER_API_KEY: 'none',
        COPILOT_MODEL: 'claude-sonnet-4.5',
      };
    },
  },
  {
    name: 'opencode',
    startModel: startFakeAnthropic,
    nameOf: (tool) => ({ use: `session_${tool}` }),
    async install() {
      const folder = await installNpm('opencode', { 'opencode-ai': '1.18.33' });
      return [`${folder}/node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`];
    },
    async setUp(home, modelUrl, { command, args }) {
      const options = { baseURL: `${modelUrl}/v1`, apiKey: 'none' };
      await write(home, '.config/opencode/opencode.json', {
        model: `anthropic/${MODEL}`,
        provider: { anthropic: { models: { [MODEL]: {} }, options } },
        mcp: { own: { type: 'local', command: [command, ...args] } },
      });
      return { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' };
    },
  },
];

export interface Household {
  /** The user's home and the folder to work in. */
  home: string;
  /** With the client on PATH. */
  env: Record<string, string>;
  /** Made when the user's own server is started, which must not be. */
  trace: string;
  turnsLeft(): number;
  leave(): Promise<void>;
}

/** A home in which the client is installed and set up with a scripted model and a server of the user's own. */
export async function settleIn(client: LaunchedClient, turns: Turn[]): Promise<Household> {
  const command = await client.install();
  const home = await mkdtemp(join(tmpdir(), 'mcpbridge-launch-'));
  const model = await client.startModel(turns);
  const trace = join(home, 'own-server-was-started');
  const own = { command: '/bin/sh', args: ['-c', `touch '${trace}'`] };
  const variables = await client.setUp(home, model.url, own);
  const program = join(home, 'bin', client.name);
  await write(
    home,
    `bin/${client.name}`,
    `#!/bin/sh\nexec ${command.map((part) => `'${part}'`).join(' ')} "$@"\n`,
  );
  await chmod(program, 0o755);
  const plain = secludedEnv(home) as Record<string, string>;
  return {
    home,
    env: { ...plain, ...variables, PATH: `${join(home, 'bin')}:${plain.PATH}` },
    trace,
    turnsLeft: model.turnsLeft,
    async leave() {
      await model.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
