import { randomBytes } from 'node:crypto';
import { type BridgeTool, parseBridgeTools } from '@mcpbridge/shared/bridge-tools.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { PLATFORM_TOOLS } from '@mcpbridge/shared/platform-tools.js';
import { SESSION_ID } from '@mcpbridge/shared/wire.js';
import { bridgeEntry } from './bridge-entry.js';
import type { Executor } from './executor.js';
import { launchClient } from './launch.js';
import type { ClientName, Launched, LaunchOptions } from './launch-types.js';
import { enterExecutor, leaveExecutor } from './open-executor.js';
import { Orchestrator } from './orchestrator.js';
import { PrivateFolder } from './private-folder.js';
import { ServedSession } from './served-session.js';
import { orchestratorTool, ownTool, type SessionTool } from './session-tool.js';
import type { AgentSession, AgentSessionOptions, AgentTool, BridgeConfig } from './types.js';

/**
 * Makes these functions the tools of an agent: they are served on 127.0.0.1, in this session alone, until it is closed.
 * Rejects with an error of code CONFIG_INVALID that names the tool or the option, or PROVIDER_UNAVAILABLE when an
 * orchestrator had to be asked and did not answer.
 */
export async function createAgentSession<const Schemas extends readonly unknown[]>(
  options: AgentSessionOptions<Schemas>,
): Promise<AgentSession> {
  const id = options.sessionId ?? `agent-${randomBytes(16).toString('hex')}`;
  if (!SESSION_ID.test(id)) {
    throw new AppError(
      'CONFIG_INVALID',
      `The sessionId ${JSON.stringify(id)} cannot be one: use 1 to 128 letters, digits, "_", ".", ":" or "-".`,
    );
  }
  const orchestrator = options.orchestrator && new Orchestrator(options.orchestrator, id);
  // The mapped type is for the caller, whose handlers get what their own schemas say.
  const own = (options.tools as readonly AgentTool[]).map(ownTool);
  const tools = [...own, ...(await fromOrchestrator(options, orchestrator))];
  refuseDoubles(tools);
  const executor = await enterExecutor();
  if (executor.has(id)) {
    await leaveExecutor(executor);
    throw new AppError('CONFIG_INVALID', `The session "${id}" is open already in this process.`);
  }
  const session = new ServedSession(id, tools);
  executor.add(session);
  const forgotten = options.sessionId === undefined ? orchestrator : undefined;
  return new OpenSession(session, executor, options.instructions, forgotten);
}

class OpenSession implements AgentSession {
  private readonly folder = new PrivateFolder();
  private readonly launched = new Set<Launched>();
  private entry: BridgeConfig | undefined;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly session: ServedSession,
    private readonly executor: Executor,
    private readonly instructions: string | undefined,
    private readonly forgotten: Orchestrator | undefined,
  ) {}

  get id(): string {
    return this.session.id;
  }

  bridgeConfig(): BridgeConfig {
    this.mustBeOpen();
    const { session, executor, folder, instructions } = this;
    this.entry ??= bridgeEntry({ session, url: executor.url, folder, instructions });
    return structuredClone(this.entry);
  }

  launch(client: ClientName, options: LaunchOptions): Launched {
    const run = launchClient(client, this.bridgeConfig(), this.folder, options);
    this.launched.add(run);
    const leave = () => this.launched.delete(run);
    run.result.then(leave, leave);
    return run;
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    const { session, executor, folder } = this;
    executor.remove(session);
    session.end();
    await Promise.all([...this.launched].map((run) => run.close()));
    folder.remove();
    await Promise.all([leaveExecutor(executor), this.forgotten?.forgetSession()]);
  }

  private mustBeOpen(): void {
    if (!this.closing) return;
    throw new AppError('SESSION_NOT_FOUND', `The session "${this.id}" was closed.`);
  }
}

/** The platform's tools and the app's additions to them, which only an orchestrator can carry out. */
async function fromOrchestrator(
  { additionalBridgeTools = [] }: Pick<AgentSessionOptions, 'additionalBridgeTools'>,
  orchestrator: Orchestrator | undefined,
): Promise<SessionTool[]> {
  if (orchestrator) {
    const added = await Promise.all(
      additionalBridgeTools.map((tool): BridgeTool[] | Promise<BridgeTool> =>
        typeof tool === 'string'
          ? orchestrator.toolNamed(tool)
          : parseBridgeTools(JSON.stringify([tool]), 'additionalBridgeTools'),
      ),
    );
    return [...PLATFORM_TOOLS, ...added.flat()].map((tool) => orchestratorTool(tool, orchestrator));
  }
  if (additionalBridgeTools.length === 0) return [];
  throw new AppError('CONFIG_INVALID', 'additionalBridgeTools are carried out by an orchestrator: give one.');
}

function refuseDoubles(tools: readonly SessionTool[]): void {
  const seen = new Set<string>();
  for (const { definition } of tools) {
    if (seen.has(definition.name)) {
      throw new AppError(
        'CONFIG_INVALID',
        `Two tools are named "${definition.name}": give each its own name.`,
      );
    }
    seen.add(definition.name);
  }
}
