#!/usr/bin/env node
import { AppError, messageOf } from '@mcpbridge/shared/errors.js';
import { ToolClient } from '@mcpbridge/shared/tool-client.js';
import { readArguments, USAGE, UsageError } from './command-arguments.js';
import { readCommandSettings } from './command-settings.js';
import { followRun } from './follow-run.js';
import { LiveView } from './live-view.js';
import { pipedInput } from './piped-input.js';

/** `agent "question"`: exit code 0 with an answer, 1 without one, 2 when it was called wrongly. */
async function main(): Promise<number> {
  const given = readArguments(process.argv.slice(2));
  if (given.help) {
    console.log(USAGE);
    return 0;
  }
  const piped = given.readsInput || given.question === '' ? await pipedInput(process.stdin) : '';
  const message = [given.question, piped].filter(Boolean).join('\n\n');
  if (message === '') throw new UsageError('There is no question.');
  const { url, token } = await readCommandSettings();
  const client = new ToolClient(url, token);
  const isLive = process.stderr.isTTY === true && !given.isQuiet && !given.isJson;
  const view = new LiveView({ out: process.stdout, err: process.stderr, isLive, ...given });
  try {
    return await followRun(client, { ...given.body, message }, view, process.stdin.isTTY === true && isLive);
  } finally {
    view.close();
    client.close();
  }
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (thrown) => {
    console.error(thrown instanceof AppError ? thrown.message : messageOf(thrown));
    if (thrown instanceof UsageError) console.error(`\n${USAGE}`);
    process.exitCode = thrown instanceof UsageError ? 2 : 1;
  },
);
