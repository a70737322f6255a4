import type { Readable, Writable } from 'node:stream';
import { LineReader } from '@mcpbridge/shared/framing.js';
import {
  isCall,
  isObject,
  isResponse,
  isRpcId,
  type JsonObject,
  RPC,
  type RpcId,
} from '@mcpbridge/shared/json-rpc.js';
import { oversizeId } from '@mcpbridge/shared/oversize-id.js';
import { TurnWriter } from '@mcpbridge/shared/turn-writer.js';

/** `line` is the message as it came. */
export type MessageHandler = (message: JsonObject, line: Buffer) => void;

const MIB = 1024 * 1024;
const MAX_LINE_BYTES = 64 * MIB;
const NEWLINE = Buffer.from('\n');
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** The client's two pipes: one JSON-RPC message a line in, one a line out, nothing else. */
export class ClientPipe {
  private readonly writer: TurnWriter;

  constructor(
    private readonly input: Readable,
    output: Writable,
  ) {
    this.writer = new TurnWriter(output);
  }

  listen(handler: MessageHandler): void {
    const lines = new LineReader({
      maxBytes: MAX_LINE_BYTES,
      onLine: (line) => this.read(line, handler),
      onOversize: (head, bytes, tail) => this.refuseOversize(oversizeId(head, tail), bytes),
    });
    this.input.on('data', (chunk: Buffer) => lines.push(chunk));
  }

  send(message: object): void {
    this.sendText(JSON.stringify(message));
  }

  /** `json` must be one JSON-RPC message without line ends. */
  sendText(json: string): void {
    this.writer.write(`${json}\n`);
  }

  /** One message that came from outside, passed on without being parsed. */
  sendBytes(parts: Buffer[]): void {
    for (const part of parts) blankLineEnds(part);
    this.writer.write([...parts, NEWLINE]);
  }

  /** Writes what waits for the end of this turn of the event loop. */
  flush(): void {
    this.writer.flush();
  }

  sendError(id: RpcId | null, code: number, message: string, data?: unknown): void {
    const error = data === undefined ? { code, message } : { code, message, data };
    this.send({ jsonrpc: '2.0', id, error });
  }

  private read(line: Buffer, handler: MessageHandler): void {
    const text = line.toString('utf8');
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      if (text.trim() !== '') {
        this.sendError(null, RPC.parseError, `A line on stdin is not JSON: ${(error as Error).message}`);
      }
      return;
    }
    // Batches were part of MCP once (2025-03-26); each message in one is answered by itself.
    if (Array.isArray(value) && value.length > 0) {
      for (const entry of value) this.hand(entry, Buffer.from(JSON.stringify(entry)), handler);
    } else {
      this.hand(value, line, handler);
    }
  }

  private hand(value: unknown, line: Buffer, handler: MessageHandler): void {
    if (isObject(value) && isMessage(value)) handler(value, line);
    else this.sendError(null, RPC.invalidRequest, 'A line on stdin is JSON, but no JSON-RPC message of MCP.');
  }

  private refuseOversize(id: RpcId | null, bytes: number): void {
    const size = `${(bytes / MIB).toFixed(1)} MiB`;
    const message = `A message of ${size} is over the limit of ${MAX_LINE_BYTES / MIB} MiB and was dropped.`;
    this.sendError(id, RPC.invalidRequest, message);
  }
}

function isMessage(value: JsonObject): boolean {
  return isResponse(value) || (isCall(value) && (!('id' in value) || isRpcId(value.id)));
}

/** In valid JSON a raw line end can only stand between tokens, where a space says the same. */
function blankLineEnds(part: Buffer): void {
  for (const end of [LF, CR]) {
    for (let at = part.indexOf(end); at !== -1; at = part.indexOf(end, at + 1)) part[at] = SPACE;
  }
}
