import type { JsonObject, RpcId, RpcNotification } from '@mcpbridge/shared/json-rpc.js';
import { META } from '@mcpbridge/shared/protocol.js';
import type { HotResponse } from '../http/exchange.js';
import type { Session, SessionClient } from '../sessions/session.js';
import { EventStream } from './answer.js';

/** Which wish of `subscriptions/listen` lets a notification through. */
const WISHES: Record<string, string> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
};

/** One open `subscriptions/listen` of the modern era: a stream of what its client asked to hear. */
export class Listening implements SessionClient {
  readonly capabilities: JsonObject = {};
  private readonly stream: EventStream;
  private readonly wanted: JsonObject;

  constructor(
    response: HotResponse,
    private readonly session: Session,
    private readonly scope: string | undefined,
    private readonly id: RpcId,
    wanted: JsonObject,
  ) {
    this.wanted = Object.fromEntries(
      Object.entries(wanted).filter(([, value]) => value === true || Array.isArray(value)),
    );
    this.stream = new EventStream(response);
    session.clients.add(this);
    response.on('close', () => session.clients.delete(this));
    this.write('notifications/subscriptions/acknowledged', { notifications: this.wanted });
  }

  notify(serverId: string, notification: RpcNotification): void {
    const elsewhere = this.scope !== undefined && this.scope !== serverId;
    if (!elsewhere && notification.method !== 'notifications/tools/list_changed') this.send(notification);
  }

  /** Nothing is asked over this stream: in this era the client asks again itself. */
  async ask(): Promise<never> {
    throw new Error('A listening stream takes no questions.');
  }

  isOf(session: Session, scope: string | undefined): boolean {
    return this.session === session && this.scope === scope;
  }

  hears(uri: unknown): boolean {
    return isAmong(uri, this.wanted.resourceSubscriptions);
  }

  send({ method, params }: RpcNotification): void {
    const wish = WISHES[method];
    const updated = method === 'notifications/resources/updated' && this.hears(params?.uri);
    const isOfTask = method === 'notifications/tasks' && isAmong(params?.taskId, this.wanted.taskIds);
    if (updated || isOfTask || (wish !== undefined && this.wanted[wish] === true)) this.write(method, params);
  }

  end(): void {
    this.stream.send({
      jsonrpc: '2.0',
      id: this.id,
      result: { resultType: 'complete', _meta: { [META.subscriptionId]: this.id } },
    });
    this.stream.end();
  }

  private write(method: string, params: JsonObject = {}): void {
    const meta = { ...(params._meta as JsonObject | undefined), [META.subscriptionId]: this.id };
    this.stream.send({ jsonrpc: '2.0', method, params: { ...params, _meta: meta } });
  }
}

function isAmong(value: unknown, list: unknown): boolean {
  return Array.isArray(list) && list.includes(value);
}
