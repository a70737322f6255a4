import { eventually } from '../support/processes.js';
import type { Caller } from './support/callers.js';
import {
  callerFor,
  type Fault,
  failsAtDeadline,
  failsAtOnce,
  type How,
  type Scene,
  works,
} from './support/fault.js';
import { GONE_WITHIN_MS } from './support/house.js';

type Breaking = 'mid-call' | 'idle';

/** A call that has begun at the upstream and gets no answer from it. */
async function hanging({ lane }: Scene, caller: Caller, server: string) {
  const before = lane.remote.hanging;
  const call = caller.call(server, 'hang');
  await lane.remote.began(before);
  return { call, cause: performance.now() };
}

/** When the connection for the lists is there again after the fault before: it would else be taken for the session's. */
async function sessionsAtRest({ house, lane }: Scene, server: string): Promise<number> {
  const { url, headers } = house.running;
  await eventually(
    'nothing is planned to be opened',
    async () => {
      const response = await fetch(`${url}/api/servers/${server}`, { headers: headers() });
      const { retryAt } = (await response.json()) as { retryAt?: number };
      return retryAt === undefined;
    },
    40_000,
  );
  return lane.remote.proxy.sessions.length;
}

/** The sockets of the session's connection are gone when the session is. That for the lists may be another one by then. */
async function leaves({ lane }: Scene, caller: Caller, before: number): Promise<void> {
  await caller.leave();
  await eventually(
    'the connections of the session are closed',
    () => lane.remote.proxy.sessions.length <= before,
    GONE_WITHIN_MS,
  );
}

async function killUpstream(scene: Scene, server: string, when: Breaking): Promise<void> {
  const { lane } = scene;
  const caller = await callerFor(scene, 'HTTP');
  await works(caller, server);
  const running = when === 'mid-call' ? await hanging(scene, caller, server) : undefined;
  const cause = performance.now();
  lane.remote.signal('SIGKILL');
  if (running) await failsAtOnce(running.call, 'CONNECTION_LOST', cause);
  await lane.remote.restart();
  await comesBack(caller, server);
  await caller.leave();
}

/** What was open carries nothing any more, as after a network that forgot its connections. */
async function goSilent(scene: Scene, server: string, when: Breaking, how: How): Promise<void> {
  const { remote } = scene.lane;
  const before = await sessionsAtRest(scene, server);
  const caller = await callerFor(scene, how);
  await works(caller, server);
  if (when === 'mid-call') {
    const { call } = await hanging(scene, caller, server);
    remote.proxy.silence();
    await failsAtDeadline(call);
  } else {
    remote.proxy.silence();
    await failsAtDeadline(caller.call(server, 'hang'));
  }
  await comesBack(caller, server);
  await leaves(scene, caller, before);
}

/** It takes connections and answers none of them. */
async function acceptAndSayNothing(scene: Scene, server: string): Promise<void> {
  const { remote } = scene.lane;
  const before = await sessionsAtRest(scene, server);
  const caller = await callerFor(scene, 'HTTP');
  remote.proxy.mute();
  const { code, text } = await caller.call(server, 'echo');
  remote.proxy.heal();
  if (code !== 'PROVIDER_UNAVAILABLE')
    throw new Error(`PROVIDER_UNAVAILABLE was to be told, it was ${code}: ${text}`);
  await comesBack(caller, server);
  await leaves(scene, caller, before);
}

async function stopUpstream(scene: Scene, server: string, when: Breaking): Promise<void> {
  const { remote } = scene.lane;
  const caller = await callerFor(scene, 'HTTP');
  await works(caller, server);
  const running = when === 'mid-call' ? await hanging(scene, caller, server) : undefined;
  remote.signal('SIGSTOP');
  await failsAtDeadline(running?.call ?? caller.call(server, 'hang'));
  remote.signal('SIGCONT');
  await comesBack(caller, server);
  await caller.leave();
}

/** Without anybody's help, once the pause after a failed attempt is over. */
async function comesBack(caller: Caller, server: string): Promise<void> {
  let last = '';
  await eventually(
    `"${server}" works again`,
    async () => {
      const { code, text } = await caller.call(server, 'echo');
      last = `${code} ${text}`;
      return code === undefined;
    },
    15_000,
  ).catch((error) => {
    throw new Error(`${error.message} ${last}`);
  });
}

const kinds = { http: 'Streamable HTTP', sse: 'SSE' } as const;
const whens: Breaking[] = ['mid-call', 'idle'];

export const networkFaults: Fault[] = Object.entries(kinds).flatMap(([kind, name]): Fault[] => {
  const of = ({ lane }: Scene) => lane[kind as keyof typeof kinds];
  return [
    ...whens.flatMap((when): Fault[] => [
      {
        name: `kill -9 of an upstream over ${name}, ${when}`,
        run: (scene) => killUpstream(scene, of(scene), when),
      },
      {
        name: `SIGSTOP of an upstream over ${name}, ${when}`,
        run: (scene) => stopUpstream(scene, of(scene), when),
      },
      ...(['HTTP', 'bridge'] as const).map(
        (how): Fault => ({
          name: `half-open sockets over ${name}, ${when}, by ${how}`,
          run: (scene) => goSilent(scene, of(scene), when, how),
        }),
      ),
    ]),
    {
      name: `an upstream over ${name} takes connections and answers none`,
      run: (scene) => acceptAndSayNothing(scene, of(scene)),
    },
  ];
});
