import { inFolder } from './spawned-bridge.js';

/** Both ways from a bridge to what it speaks to, for `describe.each`: a name, and options for a fixture. */
export const WAYS: [string, () => { home?: string }][] = [
  ['over TCP', () => ({})],
  ['over the Unix socket', () => ({ home: inFolder('home') })],
];
