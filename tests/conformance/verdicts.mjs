import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/;

/**
 * The verdicts of a run that wrote into `folder`: `scenario:check` → statuses, sorted, as a check may be made several
 * times. INFO is no verdict, only a record of what was seen.
 */
export async function readVerdicts(folder) {
  await mkdir(folder, { recursive: true });
  const verdicts = new Map();
  // Scenarios of a group have a folder of the group's name around theirs.
  for (const name of await readdir(folder, { recursive: true })) {
    const scenario = FOLDER.exec(name)?.[1];
    if (scenario === undefined) continue;
    for (const { id, status } of JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8'))) {
      if (status === 'INFO') continue;
      const check = `${scenario}:${id}`;
      verdicts.set(check, [...(verdicts.get(check) ?? []), status].sort());
    }
  }
  return verdicts;
}

/** The checks that came out differently, with both outcomes in words. */
export function differences(direct, through) {
  const checks = [...new Set([...direct.keys(), ...through.keys()])].sort();
  return checks
    .map((check) => ({ check, direct: words(direct.get(check)), through: words(through.get(check)) }))
    .filter((row) => row.direct !== row.through);
}

/** `FAILURE, 3 SUCCESS`; a dash for a check that was not made. */
export function words(statuses = []) {
  const counts = new Map();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => (count > 1 ? `${count} ${status}` : status)).join(', ') || '-';
}

/** Why a direct run is no measure: two runs that fail alike would be equal. What is accepted as better through us is none. */
export function faultsOf({ verdicts, written }, isAccepted) {
  if (verdicts.size === 0) return [`the suite made no check:\n${written}`];
  return [...verdicts]
    .filter(([check, statuses]) => statuses.includes('FAILURE') && !isAccepted(check))
    .map(([check, statuses]) => `${check}: ${words(statuses)}`);
}
