import { expect, test } from '@jest/globals';
import { unblanked } from '@mcpbridge/orchestrator/calls/unblanked.js';
import { secretHider } from '@mcpbridge/shared/secrets.js';

const hide = secretHider(['the-known-secret']);

test('a text that is left as it was shown keeps the secret within it, and one that is changed is as it was written', () => {
  const original = { url: 'https://a.example/?key=the-known-secret', password: 'hunter22', count: 1 };
  const edited = { url: 'https://a.example/?key=[redacted]', password: '[redacted]', count: 2 };
  expect(unblanked(edited, original, hide)).toEqual({ ...original, count: 2 });
  expect(unblanked({ url: 'https://b.example/' }, original, hide)).toEqual({ url: 'https://b.example/' });
});
