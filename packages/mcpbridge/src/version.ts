/** Set by build.mjs from package.json. */
declare const BRIDGE_VERSION: string;

export const SERVER_INFO = { name: 'mcpbridge', version: BRIDGE_VERSION } as const;
