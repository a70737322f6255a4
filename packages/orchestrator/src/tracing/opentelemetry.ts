import type { JsonObject } from '@mcpbridge/shared/json-rpc.js';
import type { Hide } from '@mcpbridge/shared/secrets.js';
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { VERSION } from '../version.js';
import type { CallSpans, CallTracer, TracedCall } from './call-tracer.js';

export type TraceProtocol = 'http/protobuf' | 'http/json';

export interface Tracing extends CallTracer {
  /** Sends what waits. */
  close(): Promise<void>;
}

const LAST_SPANS_MS = 2000;
const propagator = new W3CTraceContextPropagator();
const getter = {
  get: (carrier: JsonObject, key: string) => text(carrier[key]),
  keys: (carrier: JsonObject) => Object.keys(carrier),
};
const setter = {
  set(carrier: JsonObject, key: string, value: string) {
    carrier[key] = value;
  },
};

/**
 * Spans of calls by OpenTelemetry's SDK, which reads where they go, how many, and who we are from its own OTEL_
 * variables. A call is one span of ours for its caller (server) and one for its upstream (client), named as the
 * conventions for MCP and generative AI have it.
 */
export async function openTracing(protocol: TraceProtocol, hide: Hide): Promise<Tracing> {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'mcpbridge-orchestrator', 'service.version': VERSION }))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(await exporterOf(protocol))],
  });
  const tracer = provider.getTracer('mcpbridge', VERSION);
  return {
    begin(meta = {}): CallSpans {
      const outer = tracer.startSpan(
        'tools/call',
        { kind: SpanKind.SERVER },
        propagator.extract(ROOT_CONTEXT, meta, getter),
      );
      let inner: Span | undefined;
      return {
        toProvider(traced, before) {
          const call = shown(traced, hide);
          const within = trace.setSpan(ROOT_CONTEXT, outer);
          inner = tracer.startSpan(
            nameOf(call),
            { kind: SpanKind.CLIENT, attributes: attributesOf(call) },
            within,
          );
          const carrier: JsonObject = { ...before };
          propagator.inject(trace.setSpan(ROOT_CONTEXT, inner), carrier, setter);
          return carrier;
        },
        end(traced) {
          const call = shown(traced, hide);
          for (const span of inner ? [inner, outer] : [outer]) {
            span.updateName(nameOf(call)).setAttributes(attributesOf(call));
            if (call.outcome !== 'ok') fail(span, call);
            span.end();
          }
        },
      };
    },
    async close() {
      const late = new Promise((resolve) => setTimeout(resolve, LAST_SPANS_MS).unref());
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    },
  };
}

async function exporterOf(protocol: TraceProtocol): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new OTLPTraceExporter();
}

/** Callers make up names of tools and of themselves, and failures repeat what they were given. */
function shown({ id, kind, sessionId, outcome, errorCode, ...call }: TracedCall, hide: Hide): TracedCall {
  return {
    ...{ id, kind, sessionId, outcome, server: hide(call.server), tool: hide(call.tool) },
    ...(call.client === undefined ? {} : { client: hide(call.client) }),
    ...(errorCode === undefined ? {} : { errorCode }),
    ...(call.errorMessage === undefined ? {} : { errorMessage: hide(call.errorMessage) }),
  };
}

function nameOf({ tool }: TracedCall): string {
  return `tools/call ${tool}`;
}

function attributesOf({ id, server, tool, kind, sessionId, client }: TracedCall) {
  return {
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    'mcp.session.id': sessionId,
    'mcpbridge.server': server,
    'mcpbridge.kind': kind,
    'mcpbridge.call.id': id,
    ...(client === undefined ? {} : { 'user_agent.original': client }),
  };
}

function fail(span: Span, { outcome, errorCode = outcome, errorMessage = '' }: TracedCall): void {
  span.setAttribute('error.type', errorCode);
  span.setStatus({ code: SpanStatusCode.ERROR, message: errorMessage });
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
