import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { type BridgeTool, parseBridgeTools } from '@mcpbridge/shared/bridge-tools.js';
import { AppError, failureText, messageOf } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { baseUrl } from '@mcpbridge/shared/locate.js';
import { type ToolResult, textResult } from '@mcpbridge/shared/tools.js';
import { HEADER, WHOLE_RESULT } from '@mcpbridge/shared/wire.js';
import type { OrchestratorAddress } from './types.js';

interface Answer {
  status: number;
  body: unknown;
}

/** The orchestrator as one session sees it. By node:http, because fetch gives up on calls that take five minutes. */
export class Orchestrator {
  private readonly base: URL;
  private wasCalled = false;

  /** @throws CONFIG_INVALID */
  constructor(
    private readonly address: OrchestratorAddress,
    private readonly sessionId: string,
  ) {
    try {
      this.base = baseUrl(address.url);
    } catch (cause) {
      const message = `The orchestrator's url ${JSON.stringify(address.url)} is no http or https address.`;
      throw new AppError('CONFIG_INVALID', message, { cause });
    }
  }

  /** `address` is what stands below `/tools/`. What the orchestrator refuses is a result that says so. */
  async call(address: string, args: JsonObject, signal: AbortSignal): Promise<ToolResult> {
    this.wasCalled = true;
    const { status, body } = await this.send('POST', `/api/tools/${address}`, args, signal);
    if (status < 400 && isObject(body)) return body;
    return textResult(failureText(refusalOf(status, body)), true);
  }

  /** A tool as the orchestrator lists it. @throws CONFIG_INVALID with its own reason. */
  async toolNamed(name: string): Promise<BridgeTool> {
    const { status, body } = await this.send('GET', `/api/tools/${encodeURIComponent(name)}`);
    const [tool] = status < 400 ? parseBridgeTools(JSON.stringify([body]), 'The orchestrator') : [];
    if (tool) return tool;
    throw new AppError('CONFIG_INVALID', `additionalBridgeTools: ${refusalOf(status, body).message}`);
  }

  /** For a session of a random name, which nobody will come back to. */
  async forgetSession(): Promise<void> {
    if (!this.wasCalled) return;
    // It may be gone meanwhile, with the session.
    await this.send('DELETE', `/api/sessions/${encodeURIComponent(this.sessionId)}`).catch(() => undefined);
  }

  private send(method: string, path: string, args?: JsonObject, signal?: AbortSignal): Promise<Answer> {
    const { base, sessionId } = this;
    const body = args && Buffer.from(JSON.stringify(args));
    const headers = {
      authorization: `Bearer ${this.address.token}`,
      accept: `${WHOLE_RESULT}, application/json`,
      [HEADER.session]: sessionId,
      ...(body ? { 'content-type': 'application/json', 'content-length': body.length } : {}),
    };
    const open = base.protocol === 'https:' ? overHttps : overHttp;
    const url = new URL(base.pathname.replace(/\/$/, '') + path, base);
    return new Promise((resolve, reject) => {
      const broken = (cause: Error) =>
        reject(signal?.aborted ? signal.reason : unreachable(base.origin, cause));
      open(url, { method, headers, signal }, async (response) => {
        try {
          const parts: Buffer[] = [];
          for await (const part of response) parts.push(part);
          resolve({ status: response.statusCode ?? 0, body: parse(Buffer.concat(parts).toString('utf8')) });
        } catch (error) {
          broken(error as Error);
        }
      })
        .on('error', broken)
        .end(body);
    });
  }
}

function unreachable(origin: string, cause: Error): AppError {
  const message = `The orchestrator at ${origin} did not answer: ${messageOf(cause)}.`;
  return new AppError('PROVIDER_UNAVAILABLE', message, { cause });
}

function refusalOf(status: number, body: unknown): { message: string; code: string; layer: string } {
  const { message, code, layer } = isObject(body) && isObject(body.error) ? body.error : {};
  return {
    message: typeof message === 'string' ? message : `The orchestrator answered HTTP ${status}.`,
    code: typeof code === 'string' ? code : 'PROVIDER_ERROR',
    layer: typeof layer === 'string' ? layer : 'upstream',
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No orchestrator speaks so; the status tells the rest.
    return undefined;
  }
}
