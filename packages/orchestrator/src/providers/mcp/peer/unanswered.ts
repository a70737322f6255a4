interface Numbered {
  readonly id: number;
}

const FIRST_SIZE = 64;

/**
 * Requests that wait for their answers, by numbers that it gives them itself: each finds its place by its number, and a
 * number whose place is taken is left out. Not a Map, for the reason that Underway tells.
 */
export class Unanswered<Request extends Numbered> implements Iterable<Request> {
  private places: (Request | undefined)[] = places(FIRST_SIZE);
  private lastId = 0;
  size = 0;

  /** A number for the next request, which must be added with it. */
  nextId(): number {
    if (this.size * 2 >= this.places.length) this.grow();
    do this.lastId += 1;
    while (this.places[this.placeOf(this.lastId)] !== undefined);
    return this.lastId;
  }

  add(request: Request): void {
    this.places[this.placeOf(request.id)] = request;
    this.size += 1;
  }

  get(id: unknown): Request | undefined {
    const request = typeof id === 'number' ? this.places[this.placeOf(id)] : undefined;
    return request?.id === id ? request : undefined;
  }

  delete(request: Request): void {
    this.places[this.placeOf(request.id)] = undefined;
    this.size -= 1;
  }

  /** Those of this moment; any may leave meanwhile. */
  [Symbol.iterator](): Iterator<Request> {
    return this.all().values();
  }

  private all(): Request[] {
    return this.places.filter((request) => request !== undefined);
  }

  private placeOf(id: number): number {
    return id % this.places.length;
  }

  /** Numbers that had places of their own have them in twice as many, too. */
  private grow(): void {
    const all = this.all();
    this.places = places(this.places.length * 2);
    for (const request of all) this.places[this.placeOf(request.id)] = request;
  }
}

function places<Request>(size: number): (Request | undefined)[] {
  return new Array<Request | undefined>(size).fill(undefined);
}
