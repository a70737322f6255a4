import { expect, test } from '@jest/globals';
import { root, startNode } from '../support/processes.js';

test('where no file can be opened any more, ending what a command left does not end the service', async () => {
  const from = (name: string) => `${root}/workspace-api/lib/sandbox/${name}.js`;
  const program = `
    import { openSync } from 'node:fs';
    import { Orphans } from '${from('orphans')}';
    import { killMarked, killTree } from '${from('process-tree')}';
    const orphans = new Orphans(() => {});
    try { for (;;) openSync('/dev/null'); } catch ({ code }) { console.log(code); }
    killTree(4194304);
    killMarked('mark');
    await orphans.ended(0, 'mark');
    console.log('goes on');`;
  const wrapper = ['/bin/sh', '-c', 'ulimit -n 100; exec "$@"', 'sh'];
  const child = startNode('--input-type=module', ['-e', program], {}, root, wrapper);
  expect((await child.stdout?.toArray())?.join('')).toBe('EMFILE\ngoes on\n');
});
