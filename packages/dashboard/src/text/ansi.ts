/** A line without the escape sequences that colour it in a terminal, or do worse there. */
export const stripAnsi = (line: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what it takes away
  line.replaceAll(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g, '');
