// npm run tokens: what the tools of real servers cost a model's context in each way of listing them.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { missingBuild, startOrchestrator } from '../bench/ours.mjs';
import { stopAll } from '../bench/processes.mjs';
import { installRealServers } from '../support/real-servers.mjs';

const TOKENIZER = ['gpt-tokenizer', '3.4.0'];
const MODES = ['all', 'search', 'code'];
/** A task for which a model has to find one tool. */
const QUERY = 'take a screenshot of the page';

if (missingBuild().length > 0) throw new Error('Not built: run npm run build.');
const { folder, corpus, servers } = await installRealServers(Object.fromEntries([TOKENIZER]));
const { encode } = createRequire(join(folder, 'package.json'))(`${TOKENIZER[0]}/encoding/o200k_base`);
const tokens = (value) => encode(typeof value === 'string' ? value : JSON.stringify(value)).length;

try {
  const { url, token } = await startOrchestrator({
    name: 'orchestrator-tokens',
    servers,
    fresh: true,
  });
  await allListed(url, token);
  const rows = [];
  for (const catalog of MODES) {
    const session = await post(url, '/api/sessions', token, { catalog });
    const listed = await toolsOf(url, session.token);
    const use = catalog === 'all' ? 0 : await findOne(url, session.token, catalog);
    rows.push({ catalog, tools: listed.length, list: tokens(listed.map(asModelsSee)), use });
  }
  print(rows);
} finally {
  await stopAll();
}

function asModelsSee({ name, description, inputSchema }) {
  return { name, description, input_schema: inputSchema };
}

async function post(url, path, token, body) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

async function toolsOf(url, token) {
  const version = '2026-07-28';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/list',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }),
  });
  return (await response.json()).result.tools;
}

/** Every server, or the figures would depend on which was slow. */
async function allListed(url, token) {
  for (;;) {
    const answer = await fetch(`${url}/api/mcp-config/status`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { servers } = await answer.json();
    const failed = servers.find(({ state }) => state === 'failed');
    if (failed) throw new Error(`The server "${failed.id}" is not listed: ${failed.reason}`);
    if (servers.every(({ state }) => state === 'ready')) return;
    await new Promise((next) => setTimeout(next, 50));
  }
}

/**
 * What the model reads until it can call the tool that it needs: the search, which for code has the types of the arguments,
 * and otherwise all of the one that it takes.
 */
async function findOne(url, token, catalog) {
  const call = async (tool_name, args) =>
    (await post(url, '/api/virtual/execute', token, { tool_name, arguments: args })).result;
  const found = await call('search_tools', { query: QUERY });
  if (catalog === 'code') return tokens(found);
  const [name] = /^[\w-]+/.exec(found) ?? [];
  return tokens(found) + tokens(await call('describe_tool', { name }));
}

function print(rows) {
  const [all] = rows;
  console.log(`Corpus: ${corpus.join(', ')}.`);
  console.log(
    `Tokens: o200k_base of ${TOKENIZER.join(' ')}. One use: search "${QUERY}", in \`search\` describe the first.\n`,
  );
  console.log(
    '| Catalog | Tools listed | Tokens of the list | With one use | Saved |\n|---|---|---|---|---|',
  );
  for (const { catalog, tools, list, use } of rows) {
    const saved = `${(100 - ((list + use) / all.list) * 100).toFixed(1)} %`;
    console.log(
      `| \`${catalog}\` | ${tools} | ${list.toLocaleString('en')} | ${(list + use).toLocaleString('en')} | ${saved} |`,
    );
  }
}
