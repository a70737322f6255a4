import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeProvider } from '../contract/describe-provider.js';
import { Upstreams } from '../support/upstreams.js';
import { IMAGE, TestEngine } from './support/engine.js';

for (const kind of ['docker', 'podman'] as const) {
  describe(kind, () => {
    let engine: TestEngine;
    beforeAll(async () => {
      engine = await TestEngine.start(kind);
    });
    afterAll(() => engine.stop());

    for (const era of ['legacy', 'modern']) {
      describeProvider(`a container, ${era} era`, async () => {
        const upstreams = new Upstreams();
        const env: Record<string, string> = era === 'modern' ? { ERA: era } : {};
        const transport = { kind: 'docker' as const, image: IMAGE, command: [], mounts: [], env };
        const provider = upstreams.provider(
          { id: 'box', transport, isolation: 'session' },
          { env: { DOCKER_HOST: engine.host }, home: engine.home },
        );
        return { provider, stop: () => upstreams.close() };
      });
    }
  });
}
