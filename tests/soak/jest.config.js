import shared from '../../jest.config.js';

/** Sessions opened and dropped for minutes or hours; started by run.mjs. */
export default {
  ...shared,
  rootDir: '../..',
  testMatch: ['<rootDir>/tests/soak/**/*.test.ts'],
  maxWorkers: 1,
};
