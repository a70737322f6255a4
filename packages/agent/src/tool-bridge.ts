import { setTimeout as sleep } from 'node:timers/promises';
import type { Usage } from '@mcpbridge/shared/conversation.js';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { ListedTool, ToolClient } from '@mcpbridge/shared/tool-client.js';
import { nearestHint } from '@mcpbridge/shared/tool-names.js';
import { resultText, type ToolResult } from '@mcpbridge/shared/tools.js';
import type { OfferedTool, Picture } from './brains/brain.js';
import { picturesOf } from './pictures.js';
import { isCovered } from './prefixes.js';

/** What came of a call: text for the model, or a person who has to say yes first. */
export type Outcome =
  | {
      kind: 'result';
      text: string;
      isError: boolean;
      code?: string;
      pictures?: Picture[];
      usage?: Usage;
      run?: string;
    }
  | { kind: 'pending'; proposal: string; expiresAt: string };

/** A call that was refused here, for the log where the server's refusals stand too. */
export interface Refusal {
  sessionId: string;
  tool: string;
  arguments: JsonObject;
  error: AppError;
}

interface BridgeOptions {
  client: ToolClient;
  sessionId: string;
  /** From the mission and the person, never from the model; undefined: all that the session may use. */
  allowedPrefixes?: string[] | undefined;
  onRefused(refusal: Refusal): void;
}

/** How often a call is sent anew when the orchestrator does not take it; its id keeps it from running twice. */
const ATTEMPTS = 5;
const WAIT_MS = 100;

/** The agent's way to the tools of its session. */
export class ToolBridge {
  private listed: Map<string, ListedTool> | undefined;

  constructor(private readonly options: BridgeOptions) {}

  /** What the model is offered: what the session has, as far as the prefixes cover it. */
  async offered(signal: AbortSignal): Promise<OfferedTool[]> {
    const tools = [...(await this.tools(signal)).values()];
    return tools
      .filter(({ name }) => isCovered(name, this.options.allowedPrefixes))
      .map(({ name, description = '', inputSchema }) => ({ name, description, inputSchema }));
  }

  /** Tools by words, best first, as far as the prefixes cover them. */
  async search(words: string, signal: AbortSignal): Promise<OfferedTool[]> {
    const path = `/api/tools/search?limit=20&q=${encodeURIComponent(words)}`;
    const answer = await this.options.client.request('GET', path, undefined, { signal });
    const names = isObject(answer) && Array.isArray(answer.tools) ? answer.tools.map(({ name }) => name) : [];
    const tools = await this.offered(signal);
    return names.flatMap((name) => tools.filter((tool) => tool.name === name));
  }

  /** A failure is an outcome too: the model reads why and does something else. Rejects only when it was aborted. */
  async call(tool: string, args: JsonObject, callId: string, signal: AbortSignal): Promise<Outcome> {
    const { allowedPrefixes, onRefused, sessionId, client } = this.options;
    if (!isCovered(tool, allowedPrefixes)) {
      const covered = `may use tools whose names begin with ${allowedPrefixes?.join(', ') || 'nothing at all'}`;
      const error = new AppError('TOOL_NOT_ALLOWED', `This agent may not use "${tool}": it ${covered}.`);
      onRefused({ sessionId, tool, arguments: args, error });
      return failed(error);
    }
    const known = await this.find(tool, signal);
    if (!known) {
      const names = [...(this.listed?.keys() ?? [])].filter((name) => isCovered(name, allowedPrefixes));
      return failed(new AppError('UNKNOWN_TOOL', `There is no tool "${tool}".${nearestHint(tool, names)}`));
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        return succeeded(await client.call(known, args, { signal, callId, isAsync: true }));
      } catch (thrown) {
        if (signal.aborted) throw signal.reason;
        if (!(thrown instanceof AppError)) return failed(new AppError('INTERNAL', String(thrown)));
        if (thrown.code === 'APPROVAL_PENDING') return pending(thrown);
        if (!isWorthWaiting(thrown) || attempt === ATTEMPTS) return failed(thrown);
        await sleep(waitOf(thrown, attempt), undefined, { signal }).catch(() => {
          throw signal.reason;
        });
      }
    }
  }

  /** Lists anew for a name that was not there: servers come and go during a long run. */
  private async find(tool: string, signal: AbortSignal): Promise<ListedTool | undefined> {
    const known = (await this.tools(signal)).get(tool);
    if (known) return known;
    this.listed = undefined;
    return (await this.tools(signal)).get(tool);
  }

  private async tools(signal: AbortSignal): Promise<Map<string, ListedTool>> {
    this.listed ??= new Map((await this.options.client.tools(signal)).map((tool) => [tool.name, tool]));
    return this.listed;
  }
}

function succeeded(result: ToolResult): Outcome {
  const { pictures, notes } = picturesOf(result);
  const text = [resultText(result) || describe(result), ...notes].join('\n');
  return {
    kind: 'result',
    text,
    ...(pictures.length > 0 ? { pictures } : {}),
    isError: result.isError === true,
    ...(result.isError ? { code: 'TOOL_FAILED' } : {}),
  };
}

/** Silence is told as silence, so that nothing is read into it. */
function describe({ content = [] }: ToolResult): string {
  const others = content.flatMap((block) => (isObject(block) ? [String(block.type)] : []));
  if (others.length > 0 && !others.every((type) => type === 'text'))
    return `(The tool answered with ${others.join(', ')}.)`;
  return '(The tool answered nothing.)';
}

function failed(error: AppError): Outcome {
  return { kind: 'result', text: error.message, isError: true, code: error.code };
}

function pending({ details }: AppError): Outcome {
  const { proposal = '', expiresAt = '' } = isObject(details) ? details : {};
  return { kind: 'pending', proposal: String(proposal), expiresAt: String(expiresAt) };
}

const WAITED_OUT = new Set(['EXECUTOR_UNREACHABLE', 'LIMIT_REACHED']);

function isWorthWaiting({ code }: AppError): boolean {
  return WAITED_OUT.has(code);
}

function waitOf({ details }: AppError, attempt: number): number {
  const wanted = isObject(details) ? Number(details.retryAfterMs) : Number.NaN;
  return Number.isFinite(wanted) ? Math.min(wanted, 60_000) : WAIT_MS * 2 ** (attempt - 1);
}
