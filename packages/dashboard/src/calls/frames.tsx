import { isObject } from '@mcpbridge/shared/json-rpc.js';
import { useState } from 'react';
import { inert } from '../text/inert';
import { duration } from '../text/units';
import { JsonTree } from '../ui/json-tree';

/** Of `GET /api/calls/{id}/frames`. */
export interface Frame {
  /** Milliseconds after the start of the call. */
  ms: number;
  way: 'to' | 'from';
  meanwhile?: true;
  frame: Record<string, unknown>;
}

/** What went over the wire, in its order: who to whom, when, under which id; each opens into the whole frame. */
export function Frames({ frames }: { frames: readonly Frame[] }) {
  return (
    <section aria-label="Frames">
      <h3>
        Frames <span className="dim">{`${frames.length}, ${eraOf(frames)}`}</span>
      </h3>
      <ol className="frames">
        {frames.map((frame, at) => (
          <li key={at}>
            <OneFrame {...frame} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function OneFrame({ ms, way, meanwhile, frame }: Frame) {
  const [isOpen, setOpen] = useState(false);
  const { id, method } = frame;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={meanwhile ? 'dim' : undefined}>
        <span aria-hidden>{way === 'to' ? '→' : '←'}</span>{' '}
        <span className="hidden-text">{way === 'to' ? 'to the server' : 'from the server'}</span>
        <code>{inert(typeof method === 'string' ? method : 'error' in frame ? 'error' : 'answer')}</code>
        {id === undefined ? '' : ` id ${inert(JSON.stringify(id))}`}
        {meanwhile ? ' · meanwhile' : ''} <span className="dim">{at(ms)}</span>
      </summary>
      {isOpen ? <JsonTree value={frame} label="Frame" levels={4} /> : null}
    </details>
  );
}

const at = (ms: number) => (ms < 0 ? `${duration(-ms)} before` : `after ${duration(ms)}`);

/** A modern request says its version with itself. */
function eraOf(frames: readonly Frame[]): string {
  const { params } = frames.find(({ frame }) => frame.method === 'tools/call')?.frame ?? {};
  const meta = isObject(params) && isObject(params._meta) ? params._meta : {};
  const version = meta['io.modelcontextprotocol/protocolVersion'];
  return typeof version === 'string' ? `modern era, ${inert(version)}` : 'legacy era';
}
