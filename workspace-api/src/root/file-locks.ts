/** One change at a time of each path; different paths do not wait for each other. */
export class FileLocks {
  private readonly last = new Map<string, Promise<unknown>>();

  async run<T>(path: string, change: () => Promise<T>): Promise<T> {
    const before = this.last.get(path);
    const mine = (before ?? Promise.resolve()).then(change, change);
    this.last.set(path, mine);
    try {
      return await mine;
    } finally {
      if (this.last.get(path) === mine) this.last.delete(path);
    }
  }

  /** Resolves when the change under way, if there is one, is done. */
  async settled(path: string): Promise<void> {
    await this.last.get(path)?.catch(() => undefined);
  }

  /** Of two at once, in an order that is the same for everybody. */
  runBoth<T>(one: string, other: string, change: () => Promise<T>): Promise<T> {
    if (one === other) return this.run(one, change);
    const [first, second] = one < other ? [one, other] : [other, one];
    return this.run(first, () => this.run(second, change));
  }
}
