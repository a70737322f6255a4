import { readdirSync, readFileSync } from 'node:fs';

/** Those whose environment at their start held `NAME=value`. Other users' are not seen; where there is no /proc, none is. */
export function processesWith(name: string, values: Iterable<string>): number[] {
  const entries = [...values].map((value) => `${name}=${value}\0`);
  return processIds().filter((id) => {
    const environment = environmentOf(id);
    return entries.some((entry) => environment.includes(entry));
  });
}

/** None where no file can be opened any more: whoever ends processes must not fail at that. */
export function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Its `NAME=value`, each with a NUL after it. */
export function environmentOf(id: number): string {
  try {
    return readFileSync(`/proc/${id}/environ`, 'latin1');
  } catch {
    // Another user's, or gone.
    return '';
  }
}
