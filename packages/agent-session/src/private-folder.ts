import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const kept = new Set<PrivateFolder>();
let hooked = false;

/** A temporary folder that only this user can look into; gone when it is removed, or with this process. */
export class PrivateFolder {
  private made: string | undefined;

  /** Made when it is first needed. */
  get path(): string {
    if (this.made) return this.made;
    this.made = mkdtempSync(join(tmpdir(), 'mcpbridge-session-'));
    kept.add(this);
    if (!hooked) process.on('exit', removeAll);
    hooked = true;
    return this.made;
  }

  /** Answers the file's path. */
  write(name: string, text: string): string {
    const path = join(this.path, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  remove(): void {
    kept.delete(this);
    if (this.made) rmSync(this.made, { recursive: true, force: true });
  }
}

function removeAll(): void {
  for (const folder of kept) folder.remove();
}
