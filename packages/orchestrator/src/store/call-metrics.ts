import {
  Counter,
  Histogram,
  type OpenMetricsContentType,
  openMetricsContentType,
  Registry,
} from 'prom-client';
import type { CallRecord } from './call-record.js';

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Tools that get series of their own; the others share one, so that no catalog and no caller fills the scraper. */
const MAX_TOOLS = 500;
/** Names that callers made up are nobody's. */
const MADE_UP = new Set(['UNKNOWN_TOOL', 'UNKNOWN_SERVER']);

/** Calls of one tool that ended alike. */
export interface Series {
  server: string;
  tool: string;
  outcome: string;
  /** Empty when there was no error. */
  code: string;
  calls: number;
  argumentBytes: number;
  resultBytes: number;
}

/** What Prometheus collects of calls, counted in the scribe's thread. */
export class CallMetrics {
  private readonly registry = openMetricsRegistry();
  private readonly tools = new Set<string>();
  private readonly series = new Map<string, Series>();
  private readonly calls = new Counter({
    name: 'mcpbridge_calls_total',
    help: 'Calls that ended, by how they ended',
    labelNames: ['server', 'tool', 'outcome'],
    registers: [this.registry],
  });
  private readonly errors = new Counter({
    name: 'mcpbridge_call_errors_total',
    help: 'Calls that did not succeed, by code (docs/errors.md)',
    labelNames: ['server', 'tool', 'code'],
    registers: [this.registry],
  });
  private readonly durations = new Histogram({
    name: 'mcpbridge_call_duration_seconds',
    help: 'How long calls took, waiting for a person included',
    labelNames: ['server', 'tool'],
    buckets: BUCKETS,
    registers: [this.registry],
  });
  private readonly bytes = new Counter({
    name: 'mcpbridge_call_bytes_total',
    help: 'Bytes of arguments (in) and of the texts and data of results (out)',
    labelNames: ['server', 'direction'],
    registers: [this.registry],
  });

  /** Where calls like this one are counted. */
  seriesOf(call: Pick<CallRecord, 'server' | 'tool' | 'outcome' | 'errorCode'>): Series {
    const { server, tool } = this.namesOf(call);
    const { outcome, errorCode = '' } = call;
    const key = JSON.stringify([server, tool, outcome, errorCode]);
    let series = this.series.get(key);
    if (!series) {
      series = {
        ...{ server, tool, outcome, code: errorCode },
        ...{ calls: 0, argumentBytes: 0, resultBytes: 0 },
      };
      this.series.set(key, series);
    }
    return series;
  }

  count(series: Series, argumentBytes: number, resultBytes: number, durationMs: number): void {
    series.calls += 1;
    series.argumentBytes += argumentBytes;
    series.resultBytes += resultBytes;
    const { server, tool } = series;
    this.durations.observe({ server, tool }, durationMs / 1000);
  }

  /** Once when somebody reads: finding a series costs more than counting. */
  private sum(): void {
    for (const series of this.series.values()) {
      const { server, tool, outcome, code, calls } = series;
      this.calls.inc({ server, tool, outcome }, calls);
      if (code !== '') this.errors.inc({ server, tool, code }, calls);
      this.bytes.inc({ server, direction: 'in' }, series.argumentBytes);
      this.bytes.inc({ server, direction: 'out' }, series.resultBytes);
      series.calls = series.argumentBytes = series.resultBytes = 0;
    }
  }

  text(): Promise<string> {
    this.sum();
    return this.registry.metrics();
  }

  private namesOf({ server, tool, errorCode = '' }: Pick<CallRecord, 'server' | 'tool' | 'errorCode'>): {
    server: string;
    tool: string;
  } {
    if (MADE_UP.has(errorCode)) return { server: '_unknown', tool: '_unknown' };
    const key = `${server} ${tool}`;
    if (!this.tools.has(key)) {
      if (this.tools.size >= MAX_TOOLS) return { server: '_other', tool: '_other' };
      this.tools.add(key);
    }
    return { server, tool };
  }
}

function openMetricsRegistry(): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(openMetricsContentType);
  return registry;
}
