// Builds the page, unless it is newer than everything that it is made of: `npm run build` is run often.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const here = import.meta.dirname;
const built = join(here, 'dist/index.html');
const sources = [
  ...['index.html', 'vite.config.ts', 'package.json', 'build.mjs'].map((file) => join(here, file)),
  ...['src', 'public', '../shared/src'].flatMap((folder) =>
    readdirSync(join(here, folder), { recursive: true }).map((file) => join(here, folder, String(file))),
  ),
];

const newest = Math.max(...sources.map((file) => statSync(file).mtimeMs));
if (!existsSync(built) || statSync(built).mtimeMs < newest) await build({ root: here, logLevel: 'warn' });
