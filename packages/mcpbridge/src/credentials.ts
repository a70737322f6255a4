import { readFileSync } from 'node:fs';

export type TokenSource =
  | { kind: 'given'; token: string }
  | { kind: 'file'; path: string }
  | { kind: 'none' };

/** The token of this bridge. A file is read when the token is first needed, and again after a refusal. */
export class Credentials {
  private current: string | undefined;
  private wasRead = false;

  constructor(private readonly source: TokenSource) {}

  get token(): string | undefined {
    if (!this.wasRead) this.current = this.read();
    this.wasRead = true;
    return this.current;
  }

  /** True when there is another token now: the orchestrator made its file after we had looked. */
  renew(): boolean {
    const before = this.current;
    this.current = this.read();
    return this.current !== undefined && this.current !== before;
  }

  /** For a person whose token was refused: which one it was, and what to set. */
  advice(): string {
    const remedy = 'set MCP_API_TOKEN, or MCP_API_TOKEN_FILE to the file that holds it';
    const { source } = this;
    if (source.kind === 'given') return `It refused the token in MCP_API_TOKEN; ${remedy}.`;
    if (source.kind === 'none') return `It wants a token and none is set; ${remedy}.`;
    const found = this.current === undefined ? 'there is none in' : 'it refused the one in';
    return `It wants a token and ${found} ${source.path}; ${remedy}.`;
  }

  private read(): string | undefined {
    if (this.source.kind === 'given') return this.source.token;
    if (this.source.kind === 'none') return undefined;
    try {
      return readFileSync(this.source.path, 'utf8').trim() || undefined;
    } catch {
      // No file yet, or not ours to read: go on without; a refusal then says what to set.
      return undefined;
    }
  }
}
