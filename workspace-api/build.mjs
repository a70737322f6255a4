// The program in a few files, as the orchestrator's build makes it; run after `tsc -b`. Embedded, it is part of that bundle.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;
await rm(join(here, 'dist'), { recursive: true, force: true });
await build({
  entryPoints: [
    'main.js',
    'search/search-thread.js',
    'index/index-thread.js',
    'sandbox/jail-thread.js',
    'sandbox/gate-thread.js',
  ].map((file) => join(here, 'lib', file)),
  outdir: join(here, 'dist'),
  entryNames: '[name]',
  bundle: true,
  splitting: true,
  platform: 'node',
  mainFields: ['module', 'main'],
  target: 'node20',
  format: 'esm',
  external: ['@photostructure/sqlite', 'koffi'],
  // CommonJS libraries in the bundle ask for Node's own modules by require.
  banner: {
    js: "import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);",
  },
  legalComments: 'none',
  sourcemap: true,
  logLevel: 'warning',
});
