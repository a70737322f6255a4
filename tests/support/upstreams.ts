import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ServerEntry } from '@mcpbridge/orchestrator/config/server-entry.js';
import { createLog } from '@mcpbridge/orchestrator/log.js';
import { McpProvider, type McpProviderOptions } from '@mcpbridge/orchestrator/providers/mcp/mcp-provider.js';
import { ProcessPlaces } from '@mcpbridge/orchestrator/providers/mcp/pool/process-places.js';
import type { Caller, CallListener, ToolProvider } from '@mcpbridge/orchestrator/providers/provider.js';
import type { JsonObject, RpcNotification } from '@mcpbridge/shared/json-rpc.js';
import type { Era } from '@mcpbridge/shared/protocol.js';
import { resultText, type ToolResult } from '@mcpbridge/shared/tools.js';
import { ended, eventually, fixture, plainEnv, startNode } from './processes.js';

/** A session that writes down what it is told and asked. */
export class TestCaller implements Caller {
  readonly told: RpcNotification[] = [];
  readonly asked: { method: string; params: JsonObject | undefined }[] = [];
  era: Era = 'legacy';
  answer: unknown = { action: 'accept' };

  constructor(
    readonly sessionId: string,
    readonly capabilities: JsonObject = { elicitation: {}, sampling: {}, roots: {} },
  ) {}

  notify(_server: string, notification: RpcNotification): void {
    this.told.push(notification);
  }

  async ask(_server: string, method: string, params: JsonObject | undefined): Promise<unknown> {
    this.asked.push({ method, params });
    return this.answer;
  }
}

export interface CallOptions {
  args?: JsonObject;
  meta?: JsonObject;
  signal?: AbortSignal;
  listener?: CallListener;
}

export function callTool(
  provider: ToolProvider,
  caller: Caller,
  tool: string,
  { args = {}, signal = new AbortController().signal, ...rest }: CallOptions = {},
): Promise<ToolResult> {
  return provider.call({ caller, tool, args, signal, ...rest });
}

/** The text of the tool's answer. */
export async function textOf(
  provider: ToolProvider,
  caller: Caller,
  tool: string,
  args?: JsonObject,
): Promise<string> {
  return resultText(await callTool(provider, caller, tool, args ? { args } : {}));
}

/** Everything that a test started, ended by `close`; for one `afterEach`. */
export class Upstreams {
  private readonly providers: McpProvider[] = [];
  private readonly processes: ChildProcess[] = [];
  private folder: string | undefined;
  private files = 0;

  provider(entry: ServerEntry, options: Partial<McpProviderOptions> = {}): McpProvider {
    const provider = new McpProvider(entry, {
      env: { ...plainEnv(), SECRET_OF_PARENT: 'must not leak' },
      home: tmpdir(),
      idleTimeoutMs: 0,
      maxMessageBytes: 64 * 1024 * 1024,
      places: new ProcessPlaces(100),
      log: createLog('none'),
      ...options,
    });
    this.providers.push(provider);
    return provider;
  }

  /** A provider of features-server.mjs with these modes. */
  features(
    env: Record<string, string> = {},
    { isolation = 'session', startTimeoutMs, warm, ...options }: FeatureOptions = {},
  ): McpProvider {
    const entry: ServerEntry = {
      id: 'features',
      transport: { kind: 'stdio', command: process.execPath, args: [fixture('features-server.mjs')], env },
      isolation,
      ...(startTimeoutMs === undefined ? {} : { startTimeoutMs }),
      ...(warm === undefined ? {} : { warm }),
    };
    return this.provider(entry, options);
  }

  /** A provider of http-server.mjs at the given path. */
  remote(url: string, headers: Record<string, string> = {}, options: FeatureOptions = {}): McpProvider {
    const { isolation = 'session', startTimeoutMs = 30_000, ...rest } = options;
    const kind = url.endsWith('/sse') ? 'sse' : 'http';
    return this.provider(
      { id: 'remote', transport: { kind, url, headers }, isolation, startTimeoutMs },
      rest,
    );
  }

  async httpServer(env: Record<string, string> = {}): Promise<HttpServer> {
    const child = startNode(fixture('http-server.mjs'), [], env);
    this.processes.push(child);
    const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
    const url = String(line);
    return {
      url,
      port: new URL(url).port,
      process: child,
      async control(what) {
        const response = await fetch(`${url}/control/${what}`, { method: 'POST' });
        return (await response.json()) as Record<string, number>;
      },
    };
  }

  async file(name = `file-${++this.files}`): Promise<string> {
    this.folder ??= await mkdtemp(join(tmpdir(), 'mcpbridge-test-'));
    return join(this.folder, name);
  }

  /** A file for TRACE_FILE, and how to wait for a line in it. */
  async trace(): Promise<Trace> {
    return new Trace(await this.file());
  }

  async close(): Promise<void> {
    await Promise.all(this.providers.splice(0).map((provider) => provider.close()));
    for (const child of this.processes.splice(0)) {
      child.kill('SIGKILL');
      await ended(child);
    }
    if (this.folder) await rm(this.folder, { recursive: true, force: true });
    this.folder = undefined;
  }
}

export interface FeatureOptions extends Partial<McpProviderOptions> {
  isolation?: 'session' | 'shared';
  startTimeoutMs?: number;
  warm?: number;
}

export interface HttpServer {
  url: string;
  port: string;
  process: ChildProcess;
  control(what: 'forget' | 'drop-streams' | 'count'): Promise<Record<string, number>>;
}

/** What a fixture wrote down of its own life. */
export class Trace {
  constructor(readonly file: string) {}

  lines(): string[] {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8').split('\n').filter(Boolean) : [];
  }

  matching(pattern: RegExp): string[] {
    return this.lines().filter((line) => pattern.test(line));
  }

  line(pattern: RegExp): Promise<string> {
    return eventually(`the server noted ${pattern}`, () => this.matching(pattern)[0]);
  }

  pids(): number[] {
    return this.matching(/^pid /).map((line) => Number(line.slice(4)));
  }
}
