import { examine } from './doctor.js';
import { examineFidelity } from './doctor-fidelity.js';
import type { BridgeSettings } from './settings.js';

export interface DoctorOptions {
  fidelity: boolean;
  /** The only server to compare. */
  server: string | undefined;
}

/** What follows `doctor` on the command line; undefined when it cannot be understood. */
export function readDoctorOptions(words: readonly string[]): DoctorOptions | undefined {
  const [first, second, server, ...rest] = words;
  if (first === undefined) return { fidelity: false, server: undefined };
  if (first !== '--fidelity' || rest.length > 0) return undefined;
  if (second === undefined) return { fidelity: true, server: undefined };
  return second === '--server' && server ? { fidelity: true, server } : undefined;
}

/** True when nothing is wrong. */
export async function runDoctor(
  { fidelity, server }: DoctorOptions,
  settings: BridgeSettings,
  env: NodeJS.ProcessEnv,
  print: (line: string) => void,
): Promise<boolean> {
  if (!(await examine(settings, print))) return false;
  return !fidelity || examineFidelity(settings, env, server, print);
}
