import { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject, RpcFailure } from '@mcpbridge/shared/json-rpc.js';
import { META } from '@mcpbridge/shared/protocol.js';
import type { ModernTerms, Opened } from '../../provider.js';
import type { Origin } from '../peer/origin.js';
import type { Peer, RequestOptions } from '../peer/peer.js';
import { modernMeta } from './handshake.js';
import type { Routing } from './routing.js';
import type { SessionMemory } from './session-memory.js';

const MAX_ROUNDS = 20;

/**
 * Lets callers of either era use a modern server: every request carries what the server would else have remembered,
 * questions come back as `input_required` results, and changes are heard on one `subscriptions/listen`.
 */
export class ModernSpeaker {
  private listening: Cancel | undefined;

  constructor(
    private readonly server: string,
    private readonly peer: Peer,
    private readonly opened: Opened,
    private readonly routing: Routing,
    private readonly memory: SessionMemory,
  ) {
    this.listen();
  }

  async request(method: string, params: JsonObject = {}, options: RequestOptions = {}): Promise<unknown> {
    if (method === 'ping') return {};
    if (method === 'resources/subscribe' || method === 'resources/unsubscribe') return {};
    if (!this.listening) this.listen();
    const terms = options.origin?.listener?.terms;
    if (terms) return this.peer.request(method, this.inTermsOf(terms, params), options);
    let sent = params;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const result = await this.peer.request(method, this.enveloped(sent, options.origin), options);
      if (!isObject(result) || result.resultType !== 'input_required') return result;
      const inputResponses = await this.answers(result.inputRequests, options);
      sent = { ...params, inputResponses };
      if (result.requestState !== undefined) sent.requestState = result.requestState;
    }
    throw new AppError(
      'PROVIDER_ERROR',
      `Server "${this.server}" asked again after ${MAX_ROUNDS} answers to ${method}.`,
    );
  }

  /** Again with what the session subscribes to now; without anything to hear there is no subscription. */
  listen(): void {
    this.listening?.abort();
    const notifications = this.wanted();
    if (Object.keys(notifications).length === 0) return;
    const controller = new Cancel();
    this.listening = controller;
    const params = this.enveloped({ notifications });
    const ended = (error?: unknown) => {
      // A server that refuses is not asked again; else the next request does, so that a dead one is left in peace.
      if (this.listening === controller && !(error instanceof RpcFailure)) this.listening = undefined;
    };
    this.peer
      .request('subscriptions/listen', params, { signal: controller.signal, background: true })
      .then(() => ended(), ended);
  }

  private wanted(): JsonObject {
    const { tools, prompts, resources } = this.opened.capabilities;
    const wanted: JsonObject = {};
    if (isObject(tools) && tools.listChanged) wanted.toolsListChanged = true;
    if (isObject(prompts) && prompts.listChanged) wanted.promptsListChanged = true;
    if (isObject(resources) && resources.listChanged) wanted.resourcesListChanged = true;
    if (this.memory.subscriptions.size > 0)
      wanted.resourceSubscriptions = [...this.memory.subscriptions.keys()];
    return wanted;
  }

  /** On a shared connection, too, a caller is who it is and hears what it wants to. */
  private enveloped(params: JsonObject, origin?: Origin): JsonObject {
    const { capabilities, hello } = origin?.caller ?? this.routing;
    const own = modernMeta(capabilities, hello?.clientInfo);
    const level = origin && this.memory.levels.get(origin.caller.sessionId);
    if (level !== undefined) own[META.logLevel] = level;
    return { ...params, _meta: { ...own, ...(isObject(params._meta) ? params._meta : undefined) } };
  }

  /** As the modern client said it: its own capabilities, level and answers, not those of the connection. */
  private inTermsOf(
    { capabilities, clientInfo, logLevel, ...answers }: ModernTerms,
    params: JsonObject,
  ): JsonObject {
    const own = modernMeta(capabilities, clientInfo);
    if (logLevel !== undefined) own[META.logLevel] = logLevel;
    return {
      ...params,
      ...answers,
      _meta: { ...own, ...(isObject(params._meta) ? params._meta : undefined) },
    };
  }

  private async answers(questions: unknown, { origin, signal }: RequestOptions): Promise<JsonObject> {
    if (!isObject(questions)) return {};
    const answered = Object.entries(questions).map(async ([key, question]) => {
      const { method, params } = isObject(question) ? question : {};
      const answer = await this.ask(String(method), isObject(params) ? params : undefined, origin, signal);
      return [key, answer] as const;
    });
    return Object.fromEntries(await Promise.all(answered));
  }

  private async ask(
    method: string,
    params: JsonObject | undefined,
    origin: RequestOptions['origin'],
    signal = new Cancel().signal,
  ): Promise<unknown> {
    if (origin?.listener?.ask) return origin.listener.ask(method, params, signal);
    if (origin) return origin.caller.ask(this.server, method, params, signal);
    throw new AppError('PROVIDER_ERROR', `Server "${this.server}" asks ${method} of nobody in particular.`);
  }
}
