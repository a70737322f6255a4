/** Does one of the beginnings fit? Without any list every name does. */
export function isCovered(tool: string, prefixes: readonly string[] | undefined): boolean {
  return prefixes === undefined || prefixes.some((prefix) => tool.startsWith(prefix));
}

/** What both lists cover. */
export function narrower(a: string[] | undefined, b: string[] | undefined): string[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return [
    ...b.filter((prefix) => isCovered(prefix, a)),
    ...a.filter((prefix) => isCovered(prefix, b)),
  ].filter((prefix, index, all) => all.indexOf(prefix) === index);
}
