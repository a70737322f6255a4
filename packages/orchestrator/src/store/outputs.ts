import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '@mcpbridge/shared/errors.js';
import { timeOrderedId } from '@mcpbridge/shared/ids.js';

/** Results that were too large for their session, whole, in files that only this user can read; gone with the session. */
export class Outputs {
  constructor(private readonly folder: string) {}

  /** Answers the id by which the session reads it. */
  async save(sessionId: string, text: string): Promise<string> {
    const id = timeOrderedId();
    await mkdir(this.folderOf(sessionId), { recursive: true, mode: 0o700 });
    await writeFile(join(this.folderOf(sessionId), id), text, { mode: 0o600 });
    return id;
  }

  /** Bytes from `offset`, whole characters only, and how many there are in all. @throws NOT_FOUND */
  async read(
    sessionId: string,
    id: string,
    offset: number,
    length: number,
  ): Promise<{ text: string; next: number; bytes: number }> {
    const file = await open(this.fileOf(sessionId, id)).catch(() => undefined);
    if (!file) throw notThere(id);
    try {
      const { size } = await file.stat();
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
      const end = offset + bytesRead < size ? wholeCharacters(buffer, bytesRead) : bytesRead;
      return { text: buffer.toString('utf8', 0, end), next: offset + end, bytes: size };
    } finally {
      await file.close();
    }
  }

  /** Lines that hold the words, with their numbers, at most so many. @throws NOT_FOUND */
  async search(sessionId: string, id: string, words: string, limit: number): Promise<string[]> {
    const text = await readFile(this.fileOf(sessionId, id), 'utf8').catch(() => undefined);
    if (text === undefined) throw notThere(id);
    const wanted = words.toLowerCase();
    const found: string[] = [];
    for (const [index, line] of text.split('\n').entries()) {
      if (!line.toLowerCase().includes(wanted)) continue;
      found.push(`${index + 1}: ${line.length > 500 ? around(line, wanted) : line}`);
      if (found.length === limit) break;
    }
    return found;
  }

  async forget(sessionId: string): Promise<void> {
    await rm(this.folderOf(sessionId), { recursive: true, force: true });
  }

  private folderOf(sessionId: string): string {
    // Ids have no slash; a colon is not for every file system, and a name of dots would be another folder.
    return join(this.folder, `s-${sessionId.replaceAll(':', '=')}`);
  }

  private fileOf(sessionId: string, id: string): string {
    if (!/^[0-9a-f-]{36}$/.test(id)) throw notThere(id);
    return join(this.folderOf(sessionId), id);
  }
}

function notThere(id: string): AppError {
  return new AppError('NOT_FOUND', `This session has no stored output "${id}".`);
}

/** A long line, for example JSON without line breaks, around the first place. */
function around(line: string, wanted: string): string {
  const at = line.toLowerCase().indexOf(wanted);
  return `… ${line.slice(Math.max(0, at - 200), at + 300)} …`;
}

/** The end of the last whole UTF-8 character within the bytes. */
function wholeCharacters(bytes: Buffer, length: number): number {
  let start = length - 1;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  const first = bytes[start] ?? 0;
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return start + size <= length ? length : start;
}
