import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { AGREES, ASKS_FOR_CHANNELS, ChannelPeer } from '../support/channel-peer.js';
import { startOrchestrator } from '../support/orchestrator.js';
import { ended, eventually } from '../support/processes.js';
import { startBridge as startBridgeOf } from '../support/road.js';
import { inFolder, startBridge, toolList } from '../support/spawned-bridge.js';
import type { StdioPeer } from '../support/stdio-peer.js';

const BURST = 10;
const PROBE = 'by which way?';
const texts = (what: string, count = BURST) =>
  Array.from({ length: count }, (_, index) => `${what} ${index}`);

async function callAll(bridge: StdioPeer, tool: string, all: readonly string[]): Promise<string[]> {
  const frames = await Promise.all(all.map((text) => bridge.callTool(tool, { text })));
  return frames.map(({ result, error }) => result?.content?.[0]?.text ?? error?.message);
}

describe('at a socket that', () => {
  let server: Server;
  let sockets: Socket[];
  /** Connections on which channels were asked for and given. */
  let peers: ChannelPeer[];
  let asked: number;
  /** How channels are answered for; undefined: as in a world that knows none. */
  let onChannel: ((peer: ChannelPeer, id: number, text: string) => unknown) | undefined;
  /** Answers to plain requests wait for so many. */
  let together: number;
  /** A channel has carried a call. */
  let probed: boolean;

  beforeEach(async () => {
    probed = false;
    sockets = [];
    peers = [];
    asked = 0;
    together = BURST;
    const waiting: [Socket, string][] = [];
    const answerPlain = (socket: Socket, request: string) => {
      waiting.push([socket, request]);
      if (waiting.length < together) return;
      together = 1;
      for (const [one, its] of waiting.splice(0)) one.write(plainAnswer(its));
    };
    server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.on('data', function take(chunk) {
        const request = chunk.toString();
        if (request !== ASKS_FOR_CHANNELS) return answerPlain(socket, request);
        asked += 1;
        if (!onChannel) return socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
        socket.off('data', take);
        socket.write(AGREES);
        const peer: ChannelPeer = new ChannelPeer(socket, (id, text) => {
          if (!text.includes(PROBE)) return onChannel?.(peer, id, text);
          probed = true;
          return peer.send(id, plainAnswer(text));
        });
        peers.push(peer);
      });
    });
    await mkdir(inFolder('home'));
    server.listen(inFolder('home/1.sock'));
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const plainAnswer = (request: string) => {
    const { text } = JSON.parse(request.slice(request.indexOf('\r\n\r\n') + 4));
    const body = JSON.stringify({ content: [{ type: 'text', text }] });
    return `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  };
  const start = () => startBridge({ MCP_API_URL: 'http://127.0.0.1:1', MCP_TOOLS: toolList('echo') });

  /** A bridge that has had its first burst, and its channels with it. */
  async function started(): Promise<StdioPeer> {
    const bridge = start();
    expect(await callAll(bridge, 'echo', texts('first'))).toEqual(texts('first'));
    await eventually('channels are in use', async () => {
      await callAll(bridge, 'echo', [PROBE]);
      return probed;
    });
    return bridge;
  }

  test('knows none is asked once, and all goes on without', async () => {
    onChannel = undefined;
    const bridge = start();
    for (const what of ['first', 'second', 'third']) {
      together = what === 'first' ? BURST : 1;
      expect(await callAll(bridge, 'echo', texts(what))).toEqual(texts(what));
    }
    expect(asked).toBe(1);
    expect(bridge.stderr).toBe('');
  });

  test('has them gets a burst of calls over one connection, and each answer reaches its call', async () => {
    const heard: [ChannelPeer, number, string][] = [];
    onChannel = (peer, id, text) => {
      heard.push([peer, id, text]);
      if (heard.length < BURST) return;
      // The last one first.
      for (const [one, its, request] of heard.splice(0).reverse()) void one.send(its, plainAnswer(request));
    };
    const bridge = await started();
    const before = sockets.length;
    for (const what of ['second', 'third'])
      expect(await callAll(bridge, 'echo', texts(what))).toEqual(texts(what));
    expect(sockets.length).toBe(before);
    expect(peers).toHaveLength(1);
  });

  test('closes a channel with a call on it has not begun it: it goes over a connection of its own', async () => {
    onChannel = (peer, id) => peer.close(id);
    const bridge = await started();
    expect(await callAll(bridge, 'echo', texts('second'))).toEqual(texts('second'));
    expect(bridge.stderr).toBe('');
  });

  test('breaks one call off may have carried it out: that call fails alone, and is not sent again', async () => {
    let seen = 0;
    onChannel = (peer, id, request) => {
      seen += 1;
      return request.includes('second 3') ? peer.break(id) : peer.send(id, plainAnswer(request));
    };
    const bridge = await started();
    const answers = await callAll(bridge, 'echo', texts('second'));
    expect(answers[3]).toMatch(/may or may not have been carried out.*CONNECTION_LOST/s);
    expect(answers.filter((_, at) => at !== 3)).toEqual(texts('second').filter((_, at) => at !== 3));
    expect(seen).toBe(BURST);
  });

  test('breaks an answer off in its middle ends that call', async () => {
    onChannel = async (peer, id) => {
      await peer.send(id, 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"content"');
      await peer.break(id);
    };
    const bridge = await started();
    expect((await callAll(bridge, 'echo', ['x']))[0]).toMatch(/may or may not.*CONNECTION_LOST/s);
  });

  test('goes away: what was sent may have run, and the next burst finds the next one', async () => {
    onChannel = (peer) => peer.socket.destroy();
    const bridge = await started();
    for (const answer of await callAll(bridge, 'echo', texts('second')))
      expect(answer).toMatch(/second|CONNECTION_LOST/);
    onChannel = (peer, id, request) => peer.send(id, plainAnswer(request));
    expect(await callAll(bridge, 'echo', texts('third'))).toEqual(texts('third'));
  });

  test('speaks no frames loses its connection, and the calls have others', async () => {
    onChannel = (peer) => peer.sendBytes(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'));
    const bridge = await started();
    expect((await callAll(bridge, 'echo', ['x']))[0]).toMatch(/CONNECTION_LOST/);
    expect(await callAll(bridge, 'echo', ['y'])).toEqual(['y']);
  });

  test('hears of a cancelled call by the end of its channel, and of no other', async () => {
    const open = new Map<number, string>();
    onChannel = (_, id, text) => open.set(id, text);
    const bridge = await started();
    for (const id of ['a', 'b'])
      bridge.send({ id, method: 'tools/call', params: { name: 'echo', arguments: { text: id } } });
    await eventually('both were sent', () => open.size === 2);
    bridge.notify('notifications/cancelled', { requestId: 'a' });
    const peer = peers[0] as ChannelPeer;
    await eventually('a channel ends', () => peer.ends.size > 0);
    const [cancelled] = peer.ends.keys();
    expect(open.get(cancelled as number)).toContain('"text":"a"');
    for (const [id, text] of open) if (id !== cancelled) await peer.send(id, plainAnswer(text));
    expect((await bridge.waitFor(({ id }) => id === 'b')).result.content[0].text).toBe('b');
    expect(peer.ends.size).toBe(1);
  });
});

describe('with the orchestrator', () => {
  test.each(['listed', 'transparent'])(
    'bursts in %s mode bring each answer to its call, a large one too',
    async (mode) => {
      const running = await startOrchestrator();
      const tools = ['echo', 'big'].map((name) => ({
        ...{ name, description: name, server: 'bare', type: 'mcp', input_schema: { type: 'object' } },
      }));
      const list = mode === 'listed' ? { MCP_TOOLS: JSON.stringify(tools) } : {};
      const bridge = startBridgeOf(running, list);
      await bridge.initialize();
      const name = (tool: string) => (mode === 'listed' ? tool : `bare__${tool}`);
      for (const what of ['first', 'zweite, größere', 'third']) {
        const large = bridge.callTool(name('big'), { bytes: 300_000 });
        const all = texts(what, 200);
        expect(await callAll(bridge, name('echo'), all)).toEqual(all);
        // Listed mode puts so long a text into a file.
        expect((await large).result.content[0].text).toMatch(
          mode === 'listed' ? /300000|300,000/ : /^x{300000}$/,
        );
      }
      bridge.close();
      await running.stop();
    },
  );

  test('one that is killed in a burst breaks its calls off, and the next one gets the next burst', async () => {
    const running = await startOrchestrator();
    const bridge = startBridgeOf(running);
    await bridge.initialize();
    await callAll(bridge, 'bare__echo', texts('first', 40));
    await callAll(bridge, 'bare__echo', texts('second', 40));
    const waiting = Array.from({ length: 40 }, () => bridge.callTool('bare__slow', { ms: 60_000 }));
    await eventually('they run', async () => {
      const response = await fetch(`${running.url}/api/calls`, { headers: running.headers() });
      return ((await response.json()) as { running: unknown[] }).running.length === 40;
    });
    running.process.kill('SIGKILL');
    for (const { result } of await Promise.all(waiting))
      expect(result.content[0].text).toMatch(/may or may not have been carried out.*CONNECTION_LOST/s);
    await ended(running.process);
    const again = await startOrchestrator({ again: running });
    for (const what of ['third', 'fourth'])
      expect(await callAll(bridge, 'bare__echo', texts(what, 40))).toEqual(texts(what, 40));
    bridge.close();
    await again.stop();
  });

  test('one that is told to end in a burst answers it, and the bursts after it are for the next', async () => {
    const running = await startOrchestrator();
    const bridge = startBridgeOf(running, { MCP_CONNECT_TIMEOUT: '30s' });
    await bridge.initialize();
    await callAll(bridge, 'bare__echo', texts('first', 40));
    await callAll(bridge, 'bare__echo', texts('second', 40));
    const waiting = Array.from({ length: 40 }, () => bridge.callTool('bare__slow', { ms: 1000 }));
    await eventually('they run', async () => {
      const response = await fetch(`${running.url}/api/calls`, { headers: running.headers() });
      return ((await response.json()) as { running: unknown[] }).running.length === 40;
    });
    const stopped = running.stop(true);
    const after = callAll(bridge, 'bare__echo', texts('third', 40));
    for (const { result } of await Promise.all(waiting)) expect(result.content[0].text).toBe('slept');
    await stopped;
    const again = await startOrchestrator({ again: running });
    expect(await after).toEqual(texts('third', 40));
    bridge.close();
    await again.stop();
  });
});
