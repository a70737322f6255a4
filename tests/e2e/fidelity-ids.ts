import type { Frame } from '../support/stdio-peer.js';
import { mapClient, mapServer, type View } from './fidelity-views.js';

/**
 * Instead of ids what they stand for: "tools/call 3" is the third call. What speaks of a request (a cancellation, a
 * progress token) says the same words, so that a wrong id is seen.
 */
export function withMeaningForIds(view: View): View {
  return questionsInOrder(requestsInOrder(view));
}

function questionsInOrder(view: View): View {
  const order = new Map<unknown, string>();
  return mapClient(view, (frame) => {
    if (frame.method !== undefined && frame.id !== undefined) {
      order.set(frame.id, `question ${order.size + 1}`);
      return { ...frame, id: order.get(frame.id) };
    }
    return aboutRequest(frame, order);
  });
}

function requestsInOrder(view: View): View {
  const names = new Map<unknown, string>();
  const counts = new Map<string, number>();
  return mapServer(view, (frame) => {
    const { id, method, params } = frame;
    if (method === undefined || id === undefined) return aboutRequest(frame, names);
    const count = (counts.get(method) ?? 0) + 1;
    counts.set(method, count);
    names.set(id, `${method} ${count}`);
    const named = { ...frame, id: names.get(id) };
    if (params?._meta?.progressToken === undefined) return named;
    return { ...named, params: { ...params, _meta: { ...params._meta, progressToken: 'of this request' } } };
  });
}

function aboutRequest(frame: Frame, names: Map<unknown, string>): Frame {
  if (frame.method !== 'notifications/cancelled') return frame;
  const { requestId, ...params } = frame.params;
  return { ...frame, params: { ...params, requestId: names.get(requestId) ?? requestId } };
}
