// One file, the bridge beside it as the only dependency; its types stand alone.
import { join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;
await build({
  entryPoints: [join(here, 'src/index.ts')],
  outfile: join(here, 'dist/index.js'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  external: ['mcpbridge/*'],
  legalComments: 'none',
  logLevel: 'warning',
});
