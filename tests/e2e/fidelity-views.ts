import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from '../support/stdio-peer.js';
import type { Step } from './fidelity-talk.js';

/** What both ends saw of one conversation. */
export interface View {
  /** What the client got, step by step. */
  client: Step[];
  /** What the server got. */
  server: Frame[];
}

/** Every frame that the process got to which the client's calls went; another one may have been started to list tools. */
export function serverFrames(recordDir: string): Frame[] {
  const processes = readdirSync(recordDir).map((name) =>
    readFileSync(join(recordDir, name), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line): Frame => JSON.parse(line)),
  );
  const called = processes.filter((frames) => frames.some(({ method }) => method === 'tools/call'));
  if (called.length !== 1) throw new Error(`${called.length} processes were called.`);
  return called[0] ?? [];
}

export function mapClient(view: View, change: (frame: Frame) => Frame): View {
  const client = view.client.map(({ name, frames }) => ({ name, frames: frames.map(change) }));
  return { ...view, client };
}

export function mapServer(view: View, change: (frame: Frame) => Frame): View {
  return { ...view, server: view.server.map(change) };
}

export function withoutFrames(view: View, goes: (frame: Frame) => boolean): View {
  const stays = (frame: Frame) => !goes(frame);
  const client = view.client.map(({ name, frames }) => ({ name, frames: frames.filter(stays) }));
  return { client, server: view.server.filter(stays) };
}
