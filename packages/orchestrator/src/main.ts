import { fileURLToPath } from 'node:url';
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { tokenFile } from '@mcpbridge/shared/locate.js';
import { lockCommand } from './lock-command.js';
import { createLog } from './log.js';
import { type Orchestrator, startOrchestrator } from './orchestrator.js';
import { readSettings, type Settings } from './settings.js';

try {
  const settings = readSettings();
  const [command, flag] = process.argv.slice(2);
  if (command === 'lock') process.exit(await lock(settings, flag === '--check'));
  const orchestrator = await startOrchestrator(settings, createLog(settings.logLevel));
  announce(settings, orchestrator);
  endOnSignals(orchestrator);
} catch (thrown) {
  console.error(explain(thrown));
  process.exit(1);
}

/** Writes mcp.lock, or says what differs from it; answers the exit code. */
async function lock(settings: Settings, check: boolean): Promise<number> {
  const differences = await lockCommand(settings, createLog('error'), check);
  for (const line of differences) console.error(line);
  if (differences.length === 0) console.log(`${settings.lockFile} ${check ? 'holds' : 'was written'}.`);
  return differences.length === 0 ? 0 : 1;
}

/** Says where it is, what it waits for, and the one line that adds the bridge to each client. */
function announce(settings: Settings, { port, config, catalog }: Orchestrator): void {
  const url = `http://${settings.host}:${port}`;
  const bridge = fileURLToPath(new URL('../../mcpbridge/dist/mcpbridge.cjs', import.meta.url));
  const env = port === 8080 ? '' : `MCP_API_URL=${url}`;
  const flag = (name: string) => (env ? ` ${name} ${env}` : '');
  console.log(`Orchestrator on ${url}   token in ${tokenFile(settings.home)}`);
  for (const fault of config.faults) console.log(`  ${fault}`);
  for (const server of config.servers) {
    if (server.state === 'faulty')
      console.log(`  Server "${server.id}" is left out: ${server.faults.join(' ')}`);
  }
  const starting = catalog.allProviders().filter((provider) => provider.health.state === 'starting');
  if (starting.length > 0) console.log(`Starting ${starting.map((provider) => provider.id).join(', ')} …`);
  console.log(`
Add every tool to a client with one line:
  Claude Code   claude mcp add --scope user bridge${flag('-e')} -- node ${bridge}
  Codex         codex mcp add bridge${flag('--env')} -- node ${bridge}
  Gemini CLI    gemini mcp add --scope user --trust${flag('-e')} bridge node ${bridge}
  any other     {"mcpServers":{"bridge":{"command":"node","args":["${bridge}"]${env ? `,"env":{"MCP_API_URL":"${url}"}` : ''}}}}
`);
}

/** The first signal lets running calls finish, the second ends at once. */
function endOnSignals(orchestrator: Orchestrator): void {
  let ending = false;
  const end = () => {
    if (ending) process.exit(1);
    ending = true;
    orchestrator.close().then(
      () => process.exit(0),
      (thrown) => {
        console.error(explain(thrown));
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
}

function explain(thrown: unknown): string {
  const code = (thrown as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE')
    return 'The port is taken by another program: set PORT to a free one (0 takes any).';
  if (thrown instanceof AppError) return thrown.message;
  return `The orchestrator could not start: ${thrown instanceof Error ? thrown.stack : messageOf(thrown)}`;
}
