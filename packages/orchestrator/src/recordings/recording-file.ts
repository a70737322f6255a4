import { createReadStream, createWriteStream, openSync, type WriteStream, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { AppError } from '@mcpbridge/shared/errors.js';
import { isObject, type JsonObject } from '@mcpbridge/shared/json-rpc.js';
import { redactByKey } from '@mcpbridge/shared/redact.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { RecordedCall, SessionRecorder } from '../sessions/session.js';

/** The first line of a recording; lines of frames and calls follow, each with the milliseconds since the start. */
export interface RecordingHead {
  recording: 1;
  session: string;
  /** ISO 8601. */
  startedAt: string;
  /** The tools as the session sees them, for a stand-in. */
  tools: ToolDefinition[];
}

export interface FrameLine {
  at: number;
  server: string;
  /** To the server, or from it. */
  way: 'to' | 'from';
  frame: JsonObject;
}

export interface CallLine {
  at: number;
  call: RecordedCall;
}

/** Beyond that a recording ends by itself. */
export const MAX_BYTES = 256 * 1024 * 1024;

/** Writes a session down, one JSON object a line, with secrets blanked. It can be read from the moment it is made. */
export class RecordingFile implements SessionRecorder {
  frames = 0;
  calls = 0;
  private bytes = 0;
  private readonly start = performance.now();
  private readonly stream: WriteStream;

  constructor(
    readonly file: string,
    head: RecordingHead,
    private readonly hide: Hide,
  ) {
    const fd = openSync(file, 'wx', 0o600);
    writeSync(fd, this.lineOf(head));
    this.stream = createWriteStream(file, { fd });
    this.stream.on('error', () => {
      // A recording must not end what it records; what is missing at its end is seen.
      this.bytes = Number.POSITIVE_INFINITY;
    });
  }

  frame(server: string, way: 'to' | 'from', frame: object): void {
    this.frames += 1;
    this.write({ at: this.at(), server, way, frame });
  }

  call(call: RecordedCall): void {
    this.calls += 1;
    this.write({ at: this.at(), call });
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.stream.end(() => resolve()));
  }

  private at(): number {
    return Math.round((performance.now() - this.start) * 1000) / 1000;
  }

  private write(line: object): void {
    if (this.bytes > MAX_BYTES) return;
    this.stream.write(this.lineOf(line));
  }

  private lineOf(line: object): string {
    const shown = redactByKey(line, { characters: Number.POSITIVE_INFINITY, depth: 200, hide: this.hide });
    const text = `${JSON.stringify(shown)}\n`;
    this.bytes += text.length;
    return text;
  }
}

/** `name`: as whoever asked knows it. @throws INVALID_REQUEST when a file is no recording. */
export async function readRecording(
  file: string,
  name = file,
): Promise<{ head: RecordingHead; frames: FrameLine[]; calls: CallLine[] }> {
  let head: RecordingHead | undefined;
  const frames: FrameLine[] = [];
  const calls: CallLine[] = [];
  for await (const text of createInterface({ input: createReadStream(file) })) {
    const line: unknown = parsed(text);
    if (!head) {
      if (!isHead(line)) throw new AppError('INVALID_REQUEST', `"${name}" is no recording of a session.`);
      head = line;
    } else if (isCallLine(line)) calls.push(line);
    else if (isFrameLine(line)) frames.push(line);
    else if (line !== undefined)
      throw new AppError(
        'INVALID_REQUEST',
        `"${name}" has a line that is neither a frame nor a call: ${text.slice(0, 80)}`,
      );
  }
  if (!head) throw new AppError('INVALID_REQUEST', `"${name}" is empty.`);
  return { head, frames, calls };
}

function isHead(line: unknown): line is RecordingHead {
  if (!isObject(line) || line.recording !== 1 || !Array.isArray(line.tools)) return false;
  return (
    typeof line.session === 'string' &&
    line.tools.every((tool) => isObject(tool) && typeof tool.name === 'string')
  );
}

function isCallLine(line: unknown): line is CallLine {
  if (!isObject(line) || typeof line.at !== 'number' || !isObject(line.call)) return false;
  const { id, name, server, tool, ms } = line.call;
  return typeof ms === 'number' && [id, name, server, tool].every((text) => typeof text === 'string');
}

function isFrameLine(line: unknown): line is FrameLine {
  if (!isObject(line) || typeof line.at !== 'number' || !isObject(line.frame)) return false;
  return typeof line.server === 'string' && (line.way === 'to' || line.way === 'from');
}

/** The last line of a recording that was cut off is none. */
function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
