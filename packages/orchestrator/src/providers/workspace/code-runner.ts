/**
 * Runs what a model wrote, in the sandbox. It has no network: calls of tools go out as lines of JSON, and answers come
 * in as such. No single quotes are in it, since it stands in a command line between two.
 */
const RUNNER = `
const { format } = require("node:util");
const waiting = new Map();
let count = 0;
let logged = 0;
const tell = (message) => process.stdout.write(JSON.stringify(message) + "\\n");
const log = (...parts) => {
  const line = format(...parts);
  logged += line.length;
  if (logged < 50000) tell({ log: line });
};
for (const name of ["log", "info", "warn", "error", "debug"]) console[name] = log;
const call = (name, args = {}) => new Promise((resolve, reject) => {
  count += 1;
  waiting.set(count, { resolve, reject });
  tell({ call: count, name, args });
});
const tools = new Proxy({}, { get: (_tools, name) => (args) => call(String(name), args) });
// The engine puts two lines before the code.
const placeOf = ({ stack = "" }) => {
  const [, line] = /<anonymous>:(\\d+)/.exec(stack) || [];
  return line === undefined ? "" : " (line " + (line - 2) + ")";
};
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
async function run(code) {
  try {
    const result = await new AsyncFunction("tools", code)(tools);
    tell({ result: result === undefined ? null : result });
  } catch (error) {
    tell({ error: error instanceof Error ? error + placeOf(error) : format(error) });
  }
  process.exit();
}
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.code !== undefined) return void run(message.code);
  const { resolve, reject } = waiting.get(message.answer);
  waiting.delete(message.answer);
  if (message.error === undefined) resolve(message.value);
  else reject(new Error(message.error));
});
`;

export const CODE_COMMAND = `exec node -e '${RUNNER}'`;

/** What the runner says, a line each. */
export type RunnerMessage =
  | { call: number; name: string; args: unknown }
  | { log: string }
  | { result: unknown }
  | { error: string };
