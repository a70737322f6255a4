import { BridgeLog } from './bridge-log.js';
import { ClientPipe } from './client-pipe.js';
import { HELP } from './help.js';
import { ListedBridge } from './listed.js';
import { ReadyFile } from './ready-file.js';
import { type BridgeSettings, readBridgeSettings, SettingsError } from './settings.js';
import { keepHeapSmall } from './small-heap.js';
import { SERVER_INFO } from './version.js';

/** The program: reads its environment, which nothing else here does, and picks what to do. */
async function main([argument, ...rest]: string[]): Promise<void> {
  if (argument === '--version' || argument === '-v') return print(SERVER_INFO.version);
  if (argument === '--help' || argument === '-h') return print(HELP);
  if (argument !== undefined && argument !== 'doctor') {
    return refuse(`"${argument}" is not known; see mcpbridge --help.`);
  }
  const settings = readOrRefuse();
  if (argument === undefined) return serve(settings);
  const { readDoctorOptions, runDoctor } = await import('./doctor-command.js');
  const options = readDoctorOptions(rest);
  if (!options) return refuse(`"${rest.join(' ')}" is not known to doctor; see mcpbridge --help.`);
  process.exit((await runDoctor(options, settings, process.env, print)) ? 0 : 1);
}

async function serve(settings: BridgeSettings): Promise<void> {
  endWithClient();
  keepHeapSmall();
  const log = new BridgeLog(settings.logFile);
  const client = new ClientPipe(process.stdin, process.stdout);
  // A pipe takes a last answer also now; Node writes to it at once.
  process.on('exit', () => client.flush());
  const readyFile = new ReadyFile(settings.readyFile, log);
  log.note(
    `start ${SERVER_INFO.version}, ${settings.tools ? 'listed' : 'transparent'}, ${settings.base.origin}`,
  );
  if (process.stdin.isTTY) log.warn('speaks MCP on stdin; an MCP client starts it. See mcpbridge --help.');
  if (settings.tools) {
    const bridge = new ListedBridge(settings, settings.tools, client, readyFile, log);
    client.listen((message) => bridge.handle(message));
    return;
  }
  const { TransparentBridge } = await import('./transparent.js');
  const bridge = new TransparentBridge(settings, client, readyFile, log);
  client.listen((message, line) => bridge.handle(message, line));
}

/**
 * Nothing is waited for: clients kill what lingers. The end of the process closes every connection, which is how
 * the executor learns that the calls on them are cancelled.
 */
function endWithClient(): void {
  const end = () => process.exit(0);
  process.stdin.on('end', end).on('error', end).on('close', end);
  process.stdout.on('error', end);
  process.on('SIGTERM', end).on('SIGINT', end);
}

function readOrRefuse(): BridgeSettings {
  try {
    return readBridgeSettings(process.env);
  } catch (error) {
    if (error instanceof SettingsError) return refuse(error.message);
    throw error;
  }
}

function refuse(message: string): never {
  process.stderr.write(`mcpbridge: ${message.replace(/[\r\n]+/g, ' ')}\n`);
  process.exit(2);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

void main(process.argv.slice(2));
