/** Values of MCP_DIALECT and of its header; the table behind them is the orchestrator's (`dialects/table.ts`). */
export const DIALECT_NAMES = [
  'off',
  'claude',
  'openai',
  'gemini',
  'copilot',
  'vscode',
  'cursor',
  'opencode',
  'portable',
] as const;

export type DialectName = (typeof DIALECT_NAMES)[number];

/** In any case of letters; undefined when there is no such dialect. */
export function readDialectName(text: string): DialectName | undefined {
  const wanted = text.trim().toLowerCase();
  return DIALECT_NAMES.find((name) => name === wanted);
}

/** What is wrong with a value, for whoever set it; `what` is the variable or the header. */
export function unknownDialect(what: string, text: string): string {
  return `${what} is "${text}": set it to one of ${DIALECT_NAMES.join(', ')}.`;
}
