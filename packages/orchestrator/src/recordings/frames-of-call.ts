import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { CallLine, FrameLine } from './recording-file.js';

/** A frame of a call; `ms` after the call's start. */
export interface FrameOfCall {
  ms: number;
  way: 'to' | 'from';
  /** It names no request: of the same connection, while the call ran. */
  meanwhile?: true;
  frame: JsonObject;
}

/** A frame is written before its call begins to be counted, or after it has ended, by as much at most. */
const SLACK_MS = 5;

/** What went over the wire for a call: its request, what the server sent on the way, its answer. */
export function framesOfCall({ at, call }: CallLine, frames: readonly FrameLine[]): FrameOfCall[] {
  const start = at - call.ms;
  const near = frames.filter(
    (line) => line.server === call.server && line.at >= start - SLACK_MS && line.at <= at + SLACK_MS,
  );
  const request = near.find(({ way, frame }) => way === 'to' && isRequestOf(call, frame))?.frame;
  if (!request) return [];
  const token = metaOf(request)?.progressToken;
  return near.flatMap(({ at: then, way, frame }) => {
    const relation = relationTo(request, token, frame);
    if (relation === 'other') return [];
    const ms = Math.round((then - start) * 1000) / 1000;
    return [{ ms, way, frame, ...(relation === 'meanwhile' ? { meanwhile: true as const } : {}) }];
  });
}

function isRequestOf({ tool, arguments: args }: CallLine['call'], frame: JsonObject): boolean {
  if (frame.method !== 'tools/call' || !isObject(frame.params)) return false;
  return frame.params.name === tool && isDeepStrictEqual(frame.params.arguments ?? {}, args);
}

function metaOf({ params }: JsonObject): JsonObject | undefined {
  return isObject(params) && isObject(params._meta) ? params._meta : undefined;
}

function relationTo(request: JsonObject, token: unknown, frame: JsonObject): 'own' | 'meanwhile' | 'other' {
  const { id, method, params } = frame;
  if (frame === request || (method === undefined && id === request.id)) return 'own';
  if (method === undefined || method === 'tools/call') return 'other';
  if (!isObject(params)) return 'meanwhile';
  if (method === 'notifications/progress') return params.progressToken === token ? 'own' : 'other';
  if (method === 'notifications/cancelled') return params.requestId === request.id ? 'own' : 'other';
  return 'meanwhile';
}
