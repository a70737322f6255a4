import { Upstreams } from '../support/upstreams.js';
import { describeProvider } from './describe-provider.js';

describeProvider('stdio', async () => {
  const upstreams = new Upstreams();
  return { provider: upstreams.features(), stop: () => upstreams.close() };
});

describeProvider('stdio, modern era', async () => {
  const upstreams = new Upstreams();
  return { provider: upstreams.features({ ERA: 'modern' }), stop: () => upstreams.close() };
});

for (const [name, path] of Object.entries({
  'Streamable HTTP': '/mcp',
  SSE: '/sse',
  'Streamable HTTP, modern era': '/modern',
})) {
  describeProvider(name, async () => {
    const upstreams = new Upstreams();
    const { url } = await upstreams.httpServer();
    return { provider: upstreams.remote(url + path), stop: () => upstreams.close() };
  });
}

describeProvider('stdio, shared by all sessions', async () => {
  const upstreams = new Upstreams();
  const provider = upstreams.features({}, { isolation: 'shared' });
  return { provider, stop: () => upstreams.close() };
});
