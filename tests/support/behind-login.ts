import { afterAll, beforeAll } from '@jest/globals';
import { api } from './api.js';
import { type LoginHouse, startLoginHouse } from './login-house.js';
import { type RunningOrchestrator, type StartOptions, startOrchestrator } from './orchestrator.js';

interface Calling {
  server?: string;
  tool?: string;
  args?: object;
  /** Whose header it carries; else the owner's. */
  authorization?: string;
  /** Another orchestrator than the one of this file. */
  at?: RunningOrchestrator;
}

interface BehindLogin {
  readonly house: LoginHouse;
  readonly running: RunningOrchestrator;
  /** By default "whoami" of the server "guarded". */
  call(calling?: Calling): ReturnType<typeof execute>;
  /** A new key, as a header has it. */
  keyOf(name: string): Promise<string>;
}

interface Options {
  /** That the login service knows. */
  clients?: object[];
  start?(house: LoginHouse): StartOptions;
}

/** For these tests: a login service, and an orchestrator with servers behind it, by default one that is called "guarded". */
export function behindLogin({ clients, start = guarded }: Options = {}): BehindLogin {
  let house: LoginHouse;
  let running: RunningOrchestrator;
  beforeAll(async () => {
    house = await startLoginHouse(clients ? { CLIENTS: JSON.stringify(clients) } : {});
    running = await startOrchestrator(start(house));
  }, 60_000);
  afterAll(async () => {
    await running?.stop();
    await house?.stop();
  });
  return {
    get house() {
      return house;
    },
    get running() {
      return running;
    },
    call: (calling = {}) => execute(running, calling),
    async keyOf(name) {
      const { body } = await api(running).post('/api/keys').send({ name });
      return `Bearer ${body.key}`;
    },
  };
}

const guarded = ({ mcp }: LoginHouse): StartOptions => ({ servers: { guarded: { url: mcp } } });

function execute(
  running: RunningOrchestrator,
  { server = 'guarded', tool = 'whoami', args = {}, authorization, at = running }: Calling,
) {
  return api(at)
    .post('/api/mcp/execute')
    .set(authorization ? { authorization } : {})
    .send({ server_name: server, tool_name: tool, arguments: args });
}
