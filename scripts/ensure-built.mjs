// `npm start` after `npm ci --ignore-scripts`, or after a pull: builds when the result is missing or older than its source.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const built = [
  'packages/orchestrator/dist/main.js',
  'packages/mcpbridge/dist/mcpbridge.cjs',
  'packages/dashboard/dist/index.html',
].map((p) => join(root, p));
const packages = ['shared', 'mcpbridge', 'agent', 'orchestrator', 'dashboard'].map(
  (name) => `packages/${name}`,
);
const sources = [...packages, 'workspace-api'].flatMap((name) => {
  const folder = join(root, name, 'src');
  return readdirSync(folder, { recursive: true }).map((file) => join(folder, String(file)));
});

const newest = Math.max(...sources.map((file) => statSync(file).mtimeMs));
const stale =
  built.some((file) => !existsSync(file)) ||
  statSync(join(root, 'packages/mcpbridge/dist/mcpbridge.cjs')).mtimeMs < newest;
if (stale) {
  console.log('Building first (once, about 10 seconds) …');
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
}
