/** What a launched CLI inherits, its own keys and folders among it. */
export function inheritedEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}
