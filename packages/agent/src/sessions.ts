import type { Run } from '@mcpbridge/shared/conversation.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { ToolClient } from '@mcpbridge/shared/tool-client.js';
import { type Refusal, ToolBridge } from './tool-bridge.js';

/** How the agent comes to the orchestrator: by its address, with tokens that are each good for one session. */
export interface Host {
  address(): { url: string; socket?: string };
  tokenFor(sessionId: string): Promise<string>;
  /** A call that was refused in the agent, for the log. */
  onRefused(refusal: Refusal): void;
}

interface NewSession {
  id: string;
  allowedPrefixes?: string[] | undefined;
  approve?: string[] | undefined;
  /** Of one result; what is over it is kept by the orchestrator, to be read in parts. */
  resultBytes?: number;
}

const LASTS = '168h';
/** Of one result: the model sees images, and reckons them by their number. */
const IMAGE_BYTES = 8_000_000;
/** With these the parts of large results are read; they reach nothing else. */
const READERS = ['read_large_output', 'search_large_output'];

/** The sessions in which agents call tools: each under the session that asked, and never with more than that. */
export class AgentSessions {
  private readonly clients = new Map<string, Promise<ToolClient>>();

  constructor(private readonly host: Host) {}

  /** A session under another one; one of that id from before is taken up. Answers its id. */
  async open(parent: string, { id, allowedPrefixes, approve, resultBytes }: NewSession): Promise<string> {
    const allow = [...(allowedPrefixes ?? ['']).map((prefix) => `${prefix}*`), ...READERS];
    const body = {
      id,
      parent,
      ttl: LASTS,
      // No agent talks to itself, and none answers its own proposals.
      tools: { allow, deny: ['assistant_*'], ...(approve ? { approve } : {}) },
      ...(resultBytes === undefined ? {} : { limits: { resultBytes, imageBytes: IMAGE_BYTES } }),
    };
    const client = await this.client(parent);
    const answer = await client.request('POST', '/api/sessions', body).catch((thrown) => {
      if (thrown instanceof AppError && thrown.code === 'CONFLICT') return { id };
      throw thrown;
    });
    return isObject(answer) ? String(answer.id) : id;
  }

  /** The run's way to its tools. */
  async bridge({ agentSession: sessionId, allowedPrefixes }: Run): Promise<ToolBridge> {
    return new ToolBridge({
      client: await this.client(sessionId),
      sessionId,
      allowedPrefixes: allowedPrefixes && [...allowedPrefixes, ...READERS],
      onRefused: (refusal) => this.host.onRefused(refusal),
    });
  }

  /** What it held is closed; that it was gone already is fine. */
  async end(sessionId: string): Promise<void> {
    const client = await this.client(sessionId);
    await client.request('DELETE', `/api/sessions/${sessionId}`).catch(() => undefined);
    client.close();
    this.clients.delete(sessionId);
  }

  close(): void {
    for (const client of this.clients.values()) client.then((open) => open.close()).catch(() => undefined);
    this.clients.clear();
  }

  private client(sessionId: string): Promise<ToolClient> {
    let client = this.clients.get(sessionId);
    if (!client) {
      const { url, socket } = this.host.address();
      client = this.host
        .tokenFor(sessionId)
        .then((token) => new ToolClient(url, token, socket ? { socket } : {}));
      client.catch(() => this.clients.delete(sessionId));
      this.clients.set(sessionId, client);
    }
    return client;
  }
}
