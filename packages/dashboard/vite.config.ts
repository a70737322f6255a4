import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** One static bundle that the orchestrator serves; `npm run dev -w packages/dashboard` beside a running one. */
export default defineConfig({
  plugins: [react()],
  // It makes code at run time, which the CSP refuses, and nothing of ours uses it.
  resolve: { alias: { '@rjsf/validator-ajv8': join(import.meta.dirname, 'src/tools/no-ajv.ts') } },
  build: {
    target: 'es2022',
    // The CSP takes no inline script, and old browsers without preload are not served.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { '/api': { target: 'http://127.0.0.1:8080', ws: true } } },
});
