// One file that needs nothing but Node: CommonJS, because that starts faster than modules do.
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;
const { version } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
const outfile = join(here, 'dist/mcpbridge.cjs');
const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  define: { BRIDGE_VERSION: JSON.stringify(version) },
};

await build({
  ...common,
  entryPoints: [join(here, 'src/main.ts')],
  outfile,
  format: 'cjs',
  banner: { js: '#!/usr/bin/env node' },
  // Less to read at each start.
  minify: true,
});
await chmod(outfile, 0o755);

// For programs that write a client's configuration.
await build({
  ...common,
  entryPoints: [join(here, 'src/client-config.ts')],
  outfile: join(here, 'dist/client-config.js'),
  format: 'esm',
});
