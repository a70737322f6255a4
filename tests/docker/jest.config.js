import shared from '../../jest.config.js';

/**
 * What needs a container engine: tests start Debian's Docker and Podman themselves, beside any that runs, and install
 * them when they are missing and they may.
 */
export default {
  ...shared,
  rootDir: '../..',
  testMatch: ['<rootDir>/tests/docker/**/*.test.ts'],
  // One engine at a time: two that begin at once contend for the machine's control groups.
  maxWorkers: 1,
  // The first run installs, and how long that takes is no promise of ours.
  testTimeout: 300_000,
};
