import type { Guard } from '@mcpbridge/shared/folder-guard.js';
import { Places } from '../places.js';
import type { WorkspaceRoot } from '../root/workspace-root.js';
import { filterMatcher, globMatcher } from './globs.js';
import { loosePattern } from './loose-pattern.js';
import type { Match } from './match-file.js';
import { readPattern, type Wanted } from './pattern.js';
import { filesWith } from './ripgrep.js';
import { comparePaths } from './scope.js';
import { scopeOf } from './scope-of.js';
import type { Globbed, GlobTask, Searched } from './tasks.js';
import { late, Threads } from './threads.js';

export interface SearchRequest extends Wanted {
  folder: string;
  /** Which files, as `filterMatcher` reads it. */
  globs?: string;
  context: number;
  limit: number;
}

export interface SearchAnswer {
  matches: Match[];
  /** There are more than `limit`. */
  truncated: boolean;
  /** What found the files; the answer is the same. */
  engine: 'ripgrep' | 'reader';
}

export interface SearchOptions {
  root: WorkspaceRoot;
  /** Undefined: our own reader looks into every file. */
  ripgrep: string | undefined;
  timeoutMs?: number;
  /** Milliseconds that our own reader looks first. */
  firstLookMs?: number;
}

const TIMEOUT_MS = 30_000;
/** What is found so soon needs no other program: small folders, and what stands in every file. */
const FIRST_LOOK_MS = 50;
/** An expression may take all of its time; so one session's leave room for those of others. */
const AT_ONCE = { ofSession: 2, ofAll: 6 };
/** Files that a thread reads before it is asked whether that is enough. */
const BATCH = 500;

/** Finds files by their names and lines by what is in them, for one session as much as its guard shows. */
export class Search {
  private readonly threads = new Threads(AT_ONCE.ofAll);
  private readonly places = new Places(AT_ONCE.ofSession, AT_ONCE.ofAll);

  constructor(private readonly options: SearchOptions) {}

  /** @throws INVALID_REQUEST, PATH_NOT_ALLOWED, NOT_FOUND, CALL_TIMEOUT */
  async find(guard: Guard, request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    return this.inTurn(guard, signal, () => this.findNow(guard, request, signal));
  }

  async glob(guard: Guard, folder: string, glob: GlobTask, signal: AbortSignal): Promise<Globbed> {
    globMatcher(glob.pattern);
    return this.inTurn(guard, signal, async () => {
      const scope = await scopeOf(this.options.root, guard, folder);
      return this.threads.run<Globbed>({ kind: 'glob', scope, glob }, this.deadline(), signal);
    });
  }

  private async inTurn<Answer>(
    { sessionId }: Guard,
    signal: AbortSignal,
    answer: () => Promise<Answer>,
  ): Promise<Answer> {
    const leave = await this.places.enter(sessionId, signal);
    try {
      return await answer();
    } finally {
      leave();
    }
  }

  private async findNow(guard: Guard, request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    const { globs, context, limit } = request;
    const pattern = readPattern(request);
    filterMatcher(globs);
    const scope = await scopeOf(this.options.root, guard, request.folder);
    const deadline = this.deadline();
    const search = { pattern, context };
    const common = { scope, search, limit, ...(globs === undefined ? {} : { globs }) };
    const { ripgrep } = this.options;
    const expression = ripgrep === undefined ? undefined : loosePattern(pattern);
    const withRipgrep = ripgrep !== undefined && expression !== undefined;
    const first = await this.walk(
      common,
      withRipgrep ? Date.now() + (this.options.firstLookMs ?? FIRST_LOOK_MS) : undefined,
      deadline,
      signal,
    );
    const { matches, upTo } = first;
    if (!withRipgrep || upTo === undefined) return bounded(matches, limit, 'reader');

    const ignoreCase = pattern.flags.includes('i');
    const found = await filesWith(ripgrep, { scope, expression, ignoreCase, deadline, signal });
    if (Date.now() >= deadline) throw late();
    // It does not take every expression.
    if (!found)
      return bounded((await this.walk(common, undefined, deadline, signal)).matches, limit, 'reader');
    const paths = found.filter((path) => comparePaths(path, upTo) > 0).sort(comparePaths);
    for (let at = 0; at < paths.length && matches.length <= limit; at += BATCH) {
      const some = {
        kind: 'read',
        ...common,
        paths: paths.slice(at, at + BATCH),
        limit: limit - matches.length,
      };
      matches.push(...(await this.threads.run<Searched>(some, deadline, signal)).matches);
    }
    return bounded(matches, limit, 'ripgrep');
  }

  close(): Promise<void> {
    return this.threads.close();
  }

  private walk(
    common: object,
    until: number | undefined,
    deadline: number,
    signal: AbortSignal,
  ): Promise<Searched> {
    const task = { kind: 'walk', ...common, ...(until === undefined ? {} : { until }) };
    return this.threads.run<Searched>(task, deadline, signal);
  }

  private deadline(): number {
    return Date.now() + (this.options.timeoutMs ?? TIMEOUT_MS);
  }
}

function bounded(matches: Match[], limit: number, engine: SearchAnswer['engine']): SearchAnswer {
  return { matches: matches.slice(0, limit), truncated: matches.length > limit, engine };
}
