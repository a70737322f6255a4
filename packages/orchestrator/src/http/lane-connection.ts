import type { Socket } from 'node:net';

export type LaneEvent = 'data' | 'drain' | 'end' | 'error' | 'close';

/** What a lane needs of the connection that it serves: a socket, or one of the channels on it. */
export interface LaneConnection
  extends Pick<Socket, 'destroyed' | 'writable' | 'writableLength' | 'writableNeedDrain'> {
  on(event: LaneEvent, listener: (bytes: Buffer) => void): unknown;
  off(event: LaneEvent, listener: (bytes: Buffer) => void): unknown;
  write(text: string): unknown;
  end(): unknown;
  destroy(): unknown;
  pause(): unknown;
  resume(): unknown;
  isPaused(): boolean;
}
