import shared from '../../jest.config.js';

/** The page in Debian's Chromium, against the real orchestrator, with calls made by real bridges. */
export default {
  ...shared,
  rootDir: '../..',
  testMatch: ['<rootDir>/tests/dashboard/**/*.test.ts'],
  maxWorkers: 2,
  // The first run installs the browser, and how long that takes is no promise of ours.
  testTimeout: 300_000,
};
