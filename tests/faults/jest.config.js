import shared from '../../jest.config.js';

/** Kills, stops and silences everything there is, many times and side by side; see faults.test.ts. */
export default {
  ...shared,
  rootDir: '../..',
  testMatch: ['<rootDir>/tests/faults/**/*.test.ts'],
  maxWorkers: 1,
  testTimeout: 900_000,
};
