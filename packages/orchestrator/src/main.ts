import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { tokenFile } from '@mcpbridge/shared/locate.js';
import { lockCommand } from './lock-command.js';
import { createLog } from './log.js';
import { type Orchestrator, startOrchestrator } from './orchestrator.js';
import { readSettings, type Settings } from './settings.js';
import { keepCallsYoung } from './young-calls.js';

const [command, ...rest] = process.argv.slice(2);
try {
  if (command === undefined) await serve();
  else if (command === 'recording' && rest.length === 1) {
    const { serveRecording } = await import('./recordings/stand-in.js');
    await serveRecording(rest[0] as string);
    process.exit(0);
  } else if (command === 'oauth') {
    const { oauthCommand } = await import('./oauth-command.js');
    await oauthCommand(readSettings(), rest);
    process.exit(0);
  } else if (command === 'lock' && (rest.length === 0 || (rest.length === 1 && rest[0] === '--check')))
    process.exit(await lock(readSettings(), rest.length > 0));
  else {
    console.error(
      `"${[command, ...rest].join(' ')}" is no command: give none to start, or "lock", "lock --check", "oauth", "recording FILE".`,
    );
    process.exit(2);
  }
} catch (thrown) {
  console.error(explain(thrown));
  process.exit(1);
}

async function serve(): Promise<void> {
  keepCallsYoung();
  const settings = readSettings();
  const orchestrator = await startOrchestrator(settings, createLog(settings.logLevel));
  announce(settings, orchestrator);
  endOnSignals(orchestrator);
}

/** Writes mcp.lock, or says what differs from it; answers the exit code. */
async function lock(settings: Settings, check: boolean): Promise<number> {
  const differences = await lockCommand(settings, createLog('error'), check);
  for (const line of differences) console.error(line);
  if (differences.length === 0) console.log(`${settings.lockFile} ${check ? 'holds' : 'was written'}.`);
  return differences.length === 0 ? 0 : 1;
}

/** Says where it is, what it waits for, and the one line that adds the bridge to each client. */
function announce(settings: Settings, { port, config, catalog, loginCode }: Orchestrator): void {
  const url = `http://${settings.host}:${port}`;
  const bridge = settings.bridgeFile;
  const env = port === 8080 ? '' : `MCP_API_URL=${url}`;
  const flag = (name: string) => (env ? ` ${name} ${env}` : '');
  console.log(`Orchestrator on ${url}   token in ${tokenFile(settings.home)}`);
  console.log(`Dashboard    ${url}/login?code=${loginCode()}   (this link lets one browser in, once)`);
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
  // A file that may not grow any more is a failed write. Node sees to that, until a library (signal-exit) listens to all signals.
  process.on('SIGXFSZ', () => {});
}

function explain(thrown: unknown): string {
  const code = (thrown as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE')
    return 'The port is taken by another program: set PORT to a free one (0 takes any).';
  if (thrown instanceof AppError) return thrown.message;
  return `The orchestrator could not start: ${thrown instanceof Error ? thrown.stack : messageOf(thrown)}`;
}
