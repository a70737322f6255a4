/** What happened to a file or folder through a route; paths are relative to the workspace. Commands change more. */
export type Change =
  | { kind: 'written' | 'deleted'; path: string }
  | { kind: 'moved'; path: string; from: string };

/** Tells who keeps something in step with the files. Listeners return at once and never throw. */
export class Changes {
  private readonly listeners: ((change: Change) => void)[] = [];

  onChange(listener: (change: Change) => void): void {
    this.listeners.push(listener);
  }

  tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }
}
