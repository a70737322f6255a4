import type { Frame } from '../support/stdio-peer.js';
import { withMeaningForIds } from './fidelity-ids.js';
import type { Step } from './fidelity-talk.js';
import { mapClient, mapServer, type View, withoutFrames } from './fidelity-views.js';

/** A difference that is there for a reason; docs/fidelity.md lists the same. */
export interface Difference {
  name: string;
  reason: string;
  /** Takes it out of a view. */
  remove(view: View): View;
  /** It is there only by chance. */
  mayBeMissing?: true;
}

/** In the order in which they are taken out. */
export const DIFFERENCES: Difference[] = [
  {
    name: 'ids and progress tokens',
    reason: 'each connection has its own, so that those of two clients never meet',
    remove: withMeaningForIds,
  },
  {
    name: 'order',
    reason: 'over HTTP what belongs to no request comes on a stream of its own',
    mayBeMissing: true,
    remove: (view) => ({ ...view, client: view.client.map(sorted) }),
  },
  {
    name: 'tool list',
    reason: 'it is read once for all clients, every page of it, and answered whole',
    remove: (view) => {
      const client = view.client.map((step) => (step.name === 'tools' ? joined(step) : step));
      return { client, server: view.server.filter(({ method }) => method !== 'tools/list') };
    },
  },
  {
    name: 'news of tools',
    reason: 'the new list is read first, and several changes in a row are told as one, without their `_meta`',
    remove: (view) =>
      mapClient(view, ({ params, ...frame }) =>
        params && frame.method !== 'notifications/tools/list_changed' ? { ...frame, params } : frame,
      ),
  },
  {
    name: 'ping',
    reason: 'it asks whether the other end of this connection is there, and that end answers',
    remove: (view) =>
      mapClient(
        withoutFrames(view, ({ method }) => method === 'ping'),
        (frame) => (frame.result?.['x-pong'] ? { ...frame, result: {} } : frame),
      ),
  },
  {
    name: 'nothing said',
    reason: '`params` that are missing and empty ones mean the same, and so do the arguments of a call',
    remove: (view) => mapServer(view, withoutEmptyParams),
  },
  {
    name: 'discovery',
    reason:
      'a server is asked once for each connection, with the client’s name and capabilities but not its trace',
    remove: (view) =>
      mapServer(view, (frame) => (frame.method === 'server/discover' ? onlySelf(frame) : frame)),
  },
  {
    name: 'subscription',
    reason:
      'one is held for each connection, opened with the first request and again with what it is to hear now',
    remove: (view) => ({ ...view, server: withAllWishes(view.server) }),
  },
];

const text = (frame: Frame) => JSON.stringify(frame);

function sorted({ name, frames }: Step): Step {
  return { name, frames: [...frames].sort((a, b) => (text(a) < text(b) ? -1 : 1)) };
}

/** All pages as one. */
function joined({ name, frames }: Step): Step {
  const results = frames.map(({ result }) => result);
  const { nextCursor, ...rest } = Object.assign({}, ...results);
  const tools = results.flatMap((result) => result.tools);
  const order = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  return { name, frames: [{ jsonrpc: '2.0', result: { ...rest, tools: tools.sort(order) } }] };
}

function withoutEmptyParams(frame: Frame): Frame {
  const { params, ...rest } = frame;
  const { arguments: args, ...others } = params ?? {};
  const said = args && Object.keys(args).length > 0 ? params : others;
  return Object.keys(said).length > 0 ? { ...rest, params: said } : rest;
}

function onlySelf(frame: Frame): Frame {
  const meta = Object.entries(frame.params._meta).filter(([key]) =>
    key.startsWith('io.modelcontextprotocol/'),
  );
  return { ...frame, params: { _meta: Object.fromEntries(meta) } };
}

function withAllWishes(frames: Frame[]): Frame[] {
  const isListen = ({ method }: Frame) => method === 'subscriptions/listen';
  const isItsEnd = ({ method, params }: Frame) =>
    method === 'notifications/cancelled' && String(params.requestId).startsWith('subscriptions/listen');
  const wishes = frames.filter(isListen).map(({ params }) => params.notifications);
  const others = frames.filter((frame) => !isListen(frame) && !isItsEnd(frame));
  return [...others, { method: 'subscriptions/listen', notifications: Object.assign({}, ...wishes) }];
}
