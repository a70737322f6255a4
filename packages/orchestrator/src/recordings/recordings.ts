import { randomUUID } from 'node:crypto';
import { createWriteStream, mkdirSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline as flow } from 'node:stream/promises';
import { Cancel } from '@mcpbridge/shared/cancel.js';
import { AppError, toAppError } from '@mcpbridge/shared/errors.js';
import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { REDACTED } from '@mcpbridge/shared/redact.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import type { ToolDefinition } from '@mcpbridge/shared/tools.js';
import type { CallPipeline } from '../calls/pipeline.js';
import type { Session } from '../sessions/session.js';
import { type Difference, differences } from './differences.js';
import { type FrameOfCall, framesOfCall } from './frames-of-call.js';
import { type CallLine, MAX_BYTES, RecordingFile, readRecording } from './recording-file.js';

interface RecordingsOptions {
  folder: string;
  pipeline: CallPipeline;
  hide: Hide;
  /** As the session's clients list them. */
  toolsOf(session: Session): readonly ToolDefinition[];
}

/** How a recorded call went when it was made again. */
export interface ReplayedCall {
  name: string;
  arguments: unknown;
  ms: { was: number; is?: number };
  /** Empty: the same answer. */
  differences: Difference[];
  /** Why it was not made again. */
  skipped?: string;
}

export interface ListedRecording {
  name: string;
  /** Where it lies on this machine. */
  file: string;
  bytes: number;
  /** ISO 8601. */
  recordedAt: string;
  /** The session that is being written down in it now. */
  running?: string;
}

/** A recording without payloads. */
export interface OpenedRecording {
  name: string;
  session: string;
  startedAt: string;
  tools: number;
  frames: number;
  /** `at`: milliseconds from the start of the recording to the start of the call. */
  calls: { id: string; at: number; name: string; server: string; tool: string; ms: number; failed?: true }[];
}

const NAME = /^[\w.=-]{1,200}\.jsonl$/;

/** The flight recorder: sessions written down frame by frame, and made again against the servers of today. */
export class Recordings {
  private readonly running = new Map<Session, RecordingFile>();

  constructor(private readonly options: RecordingsOptions) {}

  /** Answers the name of the file. @throws CONFLICT when it is being recorded. */
  start(session: Session): string {
    if (this.running.has(session))
      throw new AppError('CONFLICT', `The session "${session.sessionId}" is being recorded already.`);
    const { folder, hide, toolsOf } = this.options;
    const startedAt = new Date().toISOString();
    const name = `${beginningOf(session.sessionId)}${startedAt.replaceAll(/[:.]/g, '-')}.jsonl`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const head = {
      recording: 1 as const,
      session: session.sessionId,
      startedAt,
      tools: [...toolsOf(session)],
    };
    const file = new RecordingFile(join(folder, name), head, hide);
    this.running.set(session, file);
    session.recorder = file;
    return name;
  }

  /** Undefined when it was not recorded. */
  async stop(session: Session): Promise<{ frames: number; calls: number } | undefined> {
    const file = this.running.get(session);
    if (!file) return undefined;
    session.recorder = undefined;
    this.running.delete(session);
    await file.close();
    return { frames: file.frames, calls: file.calls };
  }

  async list(): Promise<ListedRecording[]> {
    const running = new Map([...this.running].map(([{ sessionId }, { file }]) => [file, sessionId]));
    const names = await readdir(this.options.folder).catch(() => []);
    const found = await Promise.all(
      names
        .filter((name) => NAME.test(name))
        .map(async (name) => {
          const file = this.fileOf(name);
          const { size, mtime } = await stat(file);
          const session = running.get(file);
          const listed: ListedRecording = { name, file, bytes: size, recordedAt: mtime.toISOString() };
          return session === undefined ? listed : { ...listed, running: session };
        }),
    );
    return found.sort((a, b) => (a.recordedAt < b.recordedAt ? 1 : -1));
  }

  /** @throws NOT_FOUND for what can be no recording's name. */
  fileOf(name: string): string {
    if (!NAME.test(name)) throw new AppError('NOT_FOUND', `There is no recording "${name}".`);
    return join(this.options.folder, name);
  }

  /** Takes a recording that was made elsewhere. @throws INVALID_REQUEST for what is none, CONFLICT for a name that is taken. */
  async take(name: string, text: Readable): Promise<OpenedRecording> {
    if (!NAME.test(name))
      throw new AppError(
        'INVALID_REQUEST',
        `A recording is called like "session.jsonl": letters, digits and . _ = -, not "${name}".`,
      );
    const file = this.fileOf(name);
    const taken = await stat(file).catch(() => undefined);
    if (taken) throw new AppError('CONFLICT', `There is a recording "${name}" already.`);
    mkdirSync(this.options.folder, { recursive: true, mode: 0o700 });
    const draft = join(this.options.folder, `.${randomUUID()}`);
    try {
      await flow(text, bounded, createWriteStream(draft, { mode: 0o600 }));
      await readRecording(draft, name);
      await rename(draft, file);
    } finally {
      await rm(draft, { force: true });
    }
    return this.open(name);
  }

  /** @throws NOT_FOUND; CONFLICT while it is being written. */
  async remove(name: string): Promise<void> {
    const file = await this.existing(name);
    if ([...this.running.values()].some((one) => one.file === file))
      throw new AppError('CONFLICT', `"${name}" is still being recorded: end it first.`);
    await rm(file);
  }

  async open(name: string): Promise<OpenedRecording> {
    const { head, frames, calls } = await readRecording(await this.existing(name), name);
    const { session, startedAt, tools } = head;
    return {
      ...{ name, session, startedAt, tools: tools.length, frames: frames.length },
      calls: calls.map(({ at, call }) => ({
        ...{
          id: call.id,
          at: Math.max(0, at - call.ms),
          name: call.name,
          server: call.server,
          tool: call.tool,
        },
        ms: call.ms,
        ...(hasFailed(call) ? { failed: true as const } : {}),
      })),
    };
  }

  /** One call of a recording with its frames. @throws NOT_FOUND */
  async callOf(name: string, id: string): Promise<CallLine['call'] & { frames: FrameOfCall[] }> {
    const { frames, calls } = await readRecording(await this.existing(name), name);
    const line = calls.find(({ call }) => call.id === id);
    if (!line) throw new AppError('NOT_FOUND', `The recording "${name}" has no call "${id}".`);
    return { ...line.call, frames: framesOfCall(line, frames) };
  }

  /** The frames of a call of the log, where its session was being recorded; undefined where it was not. */
  async framesOf(
    session: string,
    id: string,
  ): Promise<{ recording: string; frames: FrameOfCall[] } | undefined> {
    const beginning = beginningOf(session);
    for (const { name } of await this.list()) {
      if (!name.startsWith(beginning)) continue;
      const { frames, calls } = await readRecording(this.fileOf(name), name);
      const line = calls.find(({ call }) => call.id === id);
      if (line) return { recording: name, frames: framesOfCall(line, frames) };
    }
    return undefined;
  }

  /** Makes its calls once more, one after the other, in a session that may do what the recorded one might. */
  async replay(name: string, session: Session): Promise<ReplayedCall[]> {
    const { calls } = await readRecording(await this.existing(name), name);
    const replayed: ReplayedCall[] = [];
    for (const { call } of calls) {
      const made = { name: call.name, arguments: call.arguments, ms: { was: call.ms }, differences: [] };
      if (JSON.stringify(call.arguments).includes(REDACTED))
        replayed.push({ ...made, skipped: 'Its arguments held secrets, which are not kept.' });
      else replayed.push({ ...made, ...(await this.again(call, session)) });
    }
    return replayed;
  }

  async close(): Promise<void> {
    await Promise.all([...this.running.keys()].map((session) => this.stop(session)));
  }

  private async existing(name: string): Promise<string> {
    const file = this.fileOf(name);
    await stat(file).catch(() => {
      throw new AppError('NOT_FOUND', `There is no recording "${name}".`);
    });
    return file;
  }

  private async again(
    {
      server,
      tool,
      arguments: args,
      ms,
      result,
      error,
    }: { server: string; tool: string; arguments: unknown; ms: number; result?: unknown; error?: unknown },
    session: Session,
  ): Promise<Pick<ReplayedCall, 'ms' | 'differences'>> {
    const since = performance.now();
    const request = {
      session,
      target: { server, tool },
      args,
      abort: new Cancel(),
      client: 'replay',
      via: 'replay' as const,
    };
    const now = await this.options.pipeline.run(request).then(
      (answer) => ({ result: answer }),
      (thrown) => {
        const { code, message } = toAppError(thrown);
        return { error: { code, message } };
      },
    );
    const was = error === undefined ? { result } : { error };
    return { ms: { was: ms, is: performance.now() - since }, differences: differences(was, now) };
  }
}

async function* bounded(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes > MAX_BYTES + 1024 * 1024)
      throw new AppError('BODY_TOO_LARGE', 'A recording has at most 256 MB.');
    yield part;
  }
}

/** Of the names of a session's recordings. */
function beginningOf(session: string): string {
  return `${session.replaceAll(':', '=')}.`;
}

function hasFailed({ result, error }: CallLine['call']): boolean {
  return error !== undefined || (isObject(result) && result.isError === true);
}
