#!/usr/bin/env node
// For `npx mcpbridge`: npm links only what is there before the first build.
require('../dist/mcpbridge.cjs');
