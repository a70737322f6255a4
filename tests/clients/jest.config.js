import shared from '../../jest.config.js';

/**
 * The real clients. One file at a time: each installs its client, which needs the whole machine, and the clients'
 * own limits at the start (Codex, Claude Code) are not ours to miss because five of them start at once.
 */
export default {
  ...shared,
  rootDir: '../..',
  // Not the root: the installed clients in .cache would be searched through at each start.
  roots: ['<rootDir>/tests'],
  testMatch: ['<rootDir>/tests/clients/**/*.test.ts'],
  maxWorkers: 1,
  // The first run installs: npm and pip may take a while, and how long is no promise of ours.
  testTimeout: 300_000,
};
