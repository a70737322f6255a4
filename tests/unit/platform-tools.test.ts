import { expect, test } from '@jest/globals';
import { getApiSpec } from '@mcpbridge/orchestrator/providers/virtual/get-api-spec.js';
import { PLATFORM_TOOLS } from '@mcpbridge/shared/platform-tools.js';
import { compileSchema } from '@mcpbridge/shared/validate.js';
import { verifies } from '../requirements.js';

verifies('lean.platform-tools', () => {
  const tools = PLATFORM_TOOLS.map(({ type, server, definition }) => ({ type, server, ...definition }));
  expect(tools.map(({ type, name }) => `${type}/${name}`)).toEqual([
    'custom/execute_shell_command',
    'custom/diff_patch_workspace_file',
    'custom/agent_browser',
    'virtual/get_api_spec',
  ]);
  expect(tools).toMatchSnapshot();
});

test('the schemas of the platform tools can be checked', () => {
  for (const { definition } of PLATFORM_TOOLS) {
    expect(compileSchema(definition.inputSchema)({}).length).toBeGreaterThan(0);
  }
});

test('a platform tool is told in a lean session as the orchestrator tells it', () => {
  const pinned = PLATFORM_TOOLS.find(({ definition }) => definition.name === 'get_api_spec');
  const none = { tools: () => [], find: () => Promise.reject(new Error('There is none.')) };
  expect(getApiSpec(none).definition).toEqual(pinned?.definition);
});
