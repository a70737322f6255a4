/** Above this many changes a second paints are gathered: 30 calls, each of which starts and ends, and some more. */
const CALM_RATE = 75;
const GATHER_MS = 100;
const SLOWEST_MS = 500;
const DEAR_MS = 16;

/**
 * When React hears of changes: at once within a frame while little happens, every 100 ms above that, and slower where
 * one paint takes too long. A hidden tab paints nothing.
 */
export class Painter {
  private waiting = false;
  private gather = GATHER_MS;
  private seen = 0;
  private since = performance.now();
  private rate = 0;

  constructor(private readonly paint: () => void) {
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.paint();
    });
  }

  changed(by = 1): void {
    this.count(by);
    if (this.waiting || document.hidden) return;
    this.waiting = true;
    if (this.rate <= CALM_RATE) requestAnimationFrame(() => this.flush());
    else setTimeout(() => requestAnimationFrame(() => this.flush()), this.gather);
  }

  private flush(): void {
    this.waiting = false;
    const begun = performance.now();
    this.paint();
    // After the frame: what lies between is what this paint cost.
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      const cost = performance.now() - begun;
      const wished = cost > DEAR_MS ? this.gather * 1.25 : this.gather * 0.9;
      this.gather = Math.max(GATHER_MS, Math.min(SLOWEST_MS, wished));
      port1.close();
    };
    port2.postMessage(undefined);
  }

  private count(by: number): void {
    const now = performance.now();
    if (now - this.since > 500) {
      this.rate = (this.seen * 1000) / (now - this.since);
      this.seen = 0;
      this.since = now;
    }
    this.seen += by;
  }
}
