import type { Counter, Gauge, OpenMetricsContentType } from 'prom-client';
import type { Approvals } from './calls/approvals.js';
import type { CallPipeline } from './calls/pipeline.js';
import type { Catalog } from './catalog/catalog.js';
import type { EventBus } from './events/event-bus.js';
import type { ProcessPlaces } from './providers/mcp/pool/process-places.js';
import type { Sessions } from './sessions/sessions.js';
import type { Store } from './store/store.js';
import { VERSION } from './version.js';

interface Parts {
  catalog: Catalog;
  pipeline: CallPipeline;
  sessions: Sessions;
  approvals: Approvals;
  places: ProcessPlaces;
  store: Store;
  bus: EventBus;
}

const STATES = ['starting', 'ready', 'degraded', 'failed', 'stopped'] as const;

/** The text of `/metrics`: what is so now is looked up at each question, what happened to calls the scribe has counted. */
export function houseMetrics(parts: Parts): () => Promise<string> {
  let own: Promise<() => Promise<string>> | undefined;
  return async () => {
    // Loaded at the first question: most houses are never asked.
    own ??= openGauges(parts);
    const [house, calls] = await Promise.all([own.then((text) => text()), parts.store.scribe.metrics()]);
    return house.replace(/# EOF\n?$/, '') + (calls || '# EOF\n');
  };
}

async function openGauges({ catalog, pipeline, sessions, approvals, places, store, bus }: Parts) {
  const prometheus = (await import('prom-client')).default;
  const { Counter, Gauge, Registry, collectDefaultMetrics, openMetricsContentType } = prometheus;
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(openMetricsContentType);
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect(this: Gauge) {
        this.set(value());
      },
    });
  new Gauge({ name: 'mcpbridge_build', help: 'The version', labelNames: ['version'], registers }).set(
    { version: VERSION },
    1,
  );
  new Gauge({
    name: 'mcpbridge_upstream_state',
    help: '1 for the state that an upstream server is in',
    labelNames: ['server', 'state'],
    registers,
    collect(this: Gauge<'server' | 'state'>) {
      this.reset();
      for (const { id, health } of catalog.allProviders())
        for (const state of STATES) this.set({ server: id, state }, health.state === state ? 1 : 0);
    },
  });
  new Gauge({
    name: 'mcpbridge_queue_length',
    help: 'What waits: for an answer, for a person, for the disk, for a process',
    labelNames: ['queue'],
    registers,
    async collect(this: Gauge<'queue'>) {
      this.set({ queue: 'calls' }, pipeline.running.count);
      this.set({ queue: 'approvals' }, (await approvals.list()).length);
      this.set({ queue: 'records' }, store.calls.waiting);
      this.set({ queue: 'processes' }, places.waitingCount);
    },
  });
  gauge('mcpbridge_sessions', 'Open sessions', () => sessions.size);
  gauge('mcpbridge_processes', 'Processes and containers of upstream servers', () => places.takenCount);
  gauge('mcpbridge_tools', 'Tools in the catalog', () => catalog.view().tools.length);
  gauge('mcpbridge_watchers', 'Who follows the events', () => bus.watchers);
  new Counter({
    name: 'mcpbridge_records_lost_total',
    help: 'Records of calls that could not be stored',
    registers,
    collect(this: Counter) {
      this.reset();
      this.inc(store.calls.lost);
    },
  });
  return () => registry.metrics();
}
