import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { verifies } from '../requirements.js';
import { api } from '../support/api.js';
import { installBubblewrap } from '../support/commands.js';
import { bareServer, type RunningOrchestrator, startOrchestrator } from '../support/orchestrator.js';
import { featuresServer } from '../support/road.js';

describe.each(['bubblewrap', 'landlock'])('code in a session, confined by %s', (sandbox) => {
  let running: RunningOrchestrator;
  let token: string;
  beforeAll(async () => {
    installBubblewrap();
    running = await startOrchestrator({
      servers: { bare: bareServer, one: featuresServer() },
      env: { SHELL_SANDBOX: sandbox },
    });
    const policy = { catalog: 'code', tools: { deny: ['one__*'] } };
    token = (await api(running).post('/api/sessions').send(policy)).body.token;
  });
  afterAll(() => running.stop());

  async function call(tool: string, args: object) {
    const response = await fetch(`${running.url}/api/tools/virtual/${tool}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(args),
    });
    return (await response.json()) as { success: boolean; result: string; error: { message: string } };
  }
  const run = (code: string, more = {}) => call('run_code', { code, ...more });

  verifies('catalog.code-mode', async () => {
    const found = await call('search_tools', { query: 'says the text again' });
    expect(found.result.split('\n')[0]).toBe(
      'tools.bare__echo(args: { text?: string }): Says the text again',
    );
    const { result } = await run(`
      const texts = await Promise.all([1, 2, 3].map((n) => tools.bare__echo({ text: "n" + n })));
      console.log("called", texts.length);
      return { joined: texts.join("+") };
    `);
    expect(result).toBe('{"joined":"n1+n2+n3"}\n[console]\ncalled 3');
    const { body } = await api(running).get('/api/calls?limit=10');
    expect(body.calls.filter((one: { client?: string }) => one.client === 'run_code')).toHaveLength(3);
  });

  test('code reaches what its session may use and nothing else', async () => {
    const denied = await run('try { await tools.one__echo({}) } catch (error) { return error.message }');
    expect(denied.result).toContain('one__echo');
    const again = await run('return tools.run_code({ code: "1" })');
    expect(again.success).toBe(false);
    const reach = await run(`
      const { connect } = require("node:net");
      const tried = await new Promise((resolve) => connect(${running.port}, "127.0.0.1")
        .on("error", (error) => resolve(error.code)).on("connect", () => resolve("REACHED")));
      let read;
      try { read = require("node:fs").readFileSync(${JSON.stringify(`${running.home}/token`)}, "utf8") } catch (error) { read = error.code }
      return [tried, read, Object.keys(process.env).filter((name) => /TOKEN|SECRET|AUTH/.test(name))];
    `);
    expect(JSON.parse(reach.result)).toEqual([
      expect.stringMatching(/^E(CONNREFUSED|PERM|ACCES)$/),
      expect.stringMatching(/^E(NOENT|ACCES)$/),
      [],
    ]);
  });

  test('code that throws, exits, returns too much or never ends is told as that', async () => {
    const thrown = await run('console.log("before"); throw new Error("on purpose")');
    expect(thrown.success).toBe(false);
    expect(thrown.error.message).toBe('Error: on purpose (line 1)\n[console]\nbefore');
    expect((await run('process.exit(3)')).error.message).toBe('The code ended with 3.');
    expect((await run('return "x".repeat(200000)')).error.message).toContain('return less');
    expect((await run('for (;;);', { timeout: 1 })).error.message).toContain('after 1 s');
    expect((await run('return await tools.nothing({})')).error.message).toContain('nothing');
    expect((await run('return 1')).result).toBe('1');
  });
});
