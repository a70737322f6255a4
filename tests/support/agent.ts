import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { type ModelAnswer, type ModelQuestion, type ModelServer, startModel } from './model-api.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from './orchestrator.js';
import { fixture } from './processes.js';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers as they came
export type Json = any;

/** An orchestrator with the ledger server, whose effects can be counted, and an agent that thinks with the given brain. */
export class AgentHouse {
  running!: RunningOrchestrator;
  private folder = '';
  private env: Record<string, string> = {};

  static async start(env: Record<string, string>, ledger: Record<string, string> = {}): Promise<AgentHouse> {
    const house = new AgentHouse();
    await house.open(env, ledger);
    return house;
  }

  async open(env: Record<string, string>, ledger: Record<string, string> = {}): Promise<void> {
    this.folder = await mkdtemp(join(tmpdir(), 'mcpbridge-agent-'));
    await mkdir(this.missions);
    const server = {
      command: process.execPath,
      args: [fixture('ledger-server.mjs')],
      env: { LEDGER_FILE: join(this.folder, 'ledger'), ...ledger },
    };
    this.env = { AGENT_MISSIONS: this.missions, ...env };
    const servers = { ledger: server, bare: bareServer };
    this.running = await startOrchestrator({ servers, env: this.env });
  }

  private get missions(): string {
    return join(this.folder, 'missions');
  }

  /** Writes a mission file; Markdown unless the name says otherwise. */
  writeMission(name: string, text: string): Promise<void> {
    return writeFile(join(this.missions, name.includes('.') ? name : `${name}.md`), text);
  }

  /** What the ledger server was called for, in the order of arrival. */
  get ledger(): string[] {
    const file = join(this.folder, 'ledger');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  }

  /** After a stop or a kill, in the same home; `early`: not waiting until its catalog can serve. */
  async again(env: Record<string, string> = {}, early = false): Promise<void> {
    this.running = await startOrchestrator({ again: this.running, env: { ...this.env, ...env }, early });
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Json> {
    const response = await fetch(this.running.url + path, {
      method,
      headers: { ...this.running.headers(), 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return JSON.parse(await response.text());
  }

  begin(message: string, more: object = {}): Promise<Json> {
    return this.send('POST', '/api/agent/runs', { message, ...more });
  }

  run(id: string): Promise<Json> {
    return this.send('GET', `/api/agent/runs/${id}`);
  }

  /** The steps of a run until it ends or waits, and its state then. */
  async watch(id: string, lastEventId?: string): Promise<{ steps: Json[]; ids: string[]; end: Json }> {
    const response = await fetch(`${this.running.url}/api/agent/runs/${id}/events`, {
      headers: { ...this.running.headers(), ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
    });
    const steps: Json[] = [];
    const ids: string[] = [];
    let end: Json;
    for (const block of (await response.text()).split('\n\n')) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data === undefined) continue;
      if (block.includes('event: end')) end = JSON.parse(data);
      else steps.push(JSON.parse(data));
      const id = /^id: (.*)$/m.exec(block)?.[1];
      if (id) ids.push(id);
    }
    return { steps, ids, end };
  }

  /** A question, its steps and its end. */
  async ask(message: string, more: object = {}): Promise<{ steps: Json[]; end: Json }> {
    const begun = await this.begin(message, more);
    if (!begun.run_id) throw new Error(JSON.stringify(begun));
    return this.watch(begun.run_id);
  }

  async stop(): Promise<void> {
    await this.running.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export const ofType = (steps: Json[], type: string): Json[] => steps.filter((step) => step.type === type);

/** A model whose answers each test says. */
export interface TaughtModel extends ModelServer {
  answer(question: ModelQuestion): ModelAnswer | Promise<ModelAnswer>;
}

/** For the tests of a file: such a model, and a house whose agent thinks with it. */
export function useAgentHouse(
  brain: (model: ModelServer) => Record<string, string>,
  ledger: Record<string, string> = {},
): { house: AgentHouse; model: TaughtModel } {
  const house = new AgentHouse();
  const model: TaughtModel = {
    url: '',
    questions: [],
    answer: () => ({ text: 'Nobody taught me.' }),
    stop: async () => undefined,
  };
  beforeAll(async () => {
    Object.assign(model, await startModel((question) => model.answer(question)));
    await house.open(brain(model), ledger);
  });
  afterAll(async () => {
    await house.stop();
    await model.stop();
  });
  beforeEach(() => {
    model.questions.length = 0;
  });
  return { house, model };
}
