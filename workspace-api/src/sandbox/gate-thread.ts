import { parentPort, workerData } from 'node:worker_threads';
import { answerConnections } from './connect-calls.js';
import { ORCHESTRATOR_PORT } from './forward.js';

/** What a gate's thread is made with. */
export interface GateData {
  /** The file descriptor that the jail's filter asks through. */
  listener: number;
  /** On loopback: what leads to the orchestrator. */
  port: number;
}

// A thread of its own, since to be asked is to wait in a system call that Node has no event for.
const { listener, port } = workerData as GateData;
parentPort?.postMessage('ready');
answerConnections(listener, { host: '127.0.0.1', port: ORCHESTRATOR_PORT }, port);
