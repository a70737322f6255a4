import shared from '../../jest.config.js';

/**
 * docker-compose.yml as a user has it, with the images that its Dockerfile makes. Minutes, most of them for the build, so
 * it is not among the tests of every change.
 */
export default {
  ...shared,
  rootDir: '../..',
  testMatch: ['<rootDir>/tests/compose/**/*.test.ts'],
  testTimeout: 1_800_000,
};
