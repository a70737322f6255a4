import { connect, type Socket } from 'node:net';

/** Where the orchestrator listens. */
export interface OrchestratorAddress {
  host: string;
  port: number;
}

/** On loopback, as commands see it; not one that programs use for themselves. */
export const ORCHESTRATOR_PORT = 44_080;

/** Connects what came from within a command to the orchestrator; `sockets` holds both ends while they are open. */
export function forward(inside: Socket, target: OrchestratorAddress | undefined, sockets: Set<Socket>): void {
  if (!target) {
    inside.destroy();
    return;
  }
  const outside = connect({ ...target, noDelay: true });
  for (const [from, to] of [
    [inside, outside],
    [outside, inside],
  ] as const) {
    sockets.add(from);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }
}
