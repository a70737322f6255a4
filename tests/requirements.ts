import { test } from '@jest/globals';

/**
 * What this product promises, each sentence tied to the test that shows it: `verifies(id, …)` runs under the
 * sentence's own name, and tests/unit/requirements.test.ts fails for a promise that no test verifies.
 */
export const requirements = {
  'contract.address-alone':
    'an MCP client that spawns the bridge with only MCP_API_URL=http://localhost:PORT/api lists and calls tools',
  'contract.execute': 'POST /api/mcp/execute calls a tool by server and name, in both spellings of the body',
  'contract.execute-listed-name':
    'POST /api/mcp/execute reaches any tool by its listed name alone, virtual ones too',
  'contract.paths': 'the address of a tool works with and without /api, and under /s/{session}',
  'contract.empty-body': 'a call with no body, null or {} is a call without arguments',
  'contract.tools':
    'GET /api/tools lists every tool flat with its whole schema, and answers 304 to a known ETag',
  'contract.openapi': 'the OpenAPI document describes exactly the routes that run',
  'contract.api-docs': 'every request in docs/api.md gives the documented answer',
  'contract.error-docs': 'docs/errors.md and the error table list the same codes',
  'mcp.both-eras': 'the same endpoint serves a legacy client with a session and a modern one without',
  'mcp.one-server': '/mcp/{server} shows one server under its own names',
  'mcp.headers': 'a modern request whose headers differ from its body is refused with -32020',
  'mcp.modern-errors':
    'an unsupported version is refused with what is supported, an unknown modern method is HTTP 404',
  'mcp.list-changed': 'a client hears that the tool list changed when a server is added to the configuration',
  'mcp.questions':
    'a question of a server in mid-call reaches the client of that call, and its answer the server',
  'dialect.off': 'without a dialect a list is what the server said, field by field',
  'dialect.by-name': 'a client that is known by its name gets the dialect that MCP_DIALECT would give it',
  'fidelity.legacy':
    'every frame of a legacy conversation arrives at both ends as without bridge and orchestrator between them',
  'fidelity.modern':
    'every frame of a modern conversation arrives at both ends as without bridge and orchestrator between them',
  'fidelity.fifty-clients':
    'fifty clients of both eras whose ids begin at 0, all features at once, get all that is theirs and nothing else',
  'fidelity.fifty-shared':
    'fifty clients that share one connection get nothing of each other; what is surely nobody’s reaches nobody',
  'bridge.nothing-crosses':
    'two bridges whose ids both start at 0 make two hundred calls each with progress on, and nothing crosses',
  'bridge.end-cancels':
    'a bridge that is ended in mid-call by stdin end, SIGTERM or SIGINT is gone, and the upstream saw the cancellation',
  'bridge.restart': 'a call after a restart of the orchestrator succeeds with no action by the client',
  'bridge.session-ends': 'the upstream processes of a session end when its bridge is killed',
  'sessions.one-predicate': 'what a session may use is the same in the list, the spec, /mcp and the gate',
  'sessions.child': 'a child session never has more than its parent, and ends with it',
  'sessions.token': 'the token of a session is useless for another one, and can be revoked',
  'sessions.approve': 'a call that needs a yes waits for a person, and runs or is refused as they say',
  'sessions.custom-tools':
    'a custom tool is listed and callable in its session alone, and two sessions may have one of the same name',
  'sessions.restart': 'a restart loses no session, policy, token or custom tool',
  'catalog.search-mode': 'in search mode a few tools find, describe and call the others, within the policy',
  'lock.changed-tool':
    'a tool whose description changes after its first listing is not shown or called until it is accepted',
  'lock.file': 'mcp.lock pins the tools, and lock --check fails when they are others',
  'bad.orchestrator-down': 'an orchestrator that is not there is one clear line that says what to start',
  'bad.token': 'a wrong token is one clear line that says which token is meant',
  'bad.unknown-tool': 'an unknown tool is answered with the nearest names',
  'bad.no-command': 'a server whose command does not exist is named with that command, and the others work',
  'bad.config': 'a configuration with three faults names all three, and the other servers work',
  'bad.body': 'a request body of 30 MB is refused with 413 and a sentence, and the next request works',
  'bad.arguments': 'arguments that do not fit are refused with the path and what was expected',
  'bad.noise': 'a server that prints noise on stdout answers all the same',
  'bad.large': 'a message of 20 MB arrives whole, through the bridge too',
  'bad.split-characters': 'emoji split over chunk borders arrive whole, in both directions',
  'session.stranger': 'a session of somebody else and a missing one get the same answer',
  'session.isolated': 'two sessions have their own processes of a server; a shared server has one for both',
  'session.deleted': 'ending a session cancels its calls and ends its upstream processes',
  'call.deadline': 'a call that passes its deadline is cancelled at the upstream and reported with the time',
  'call.cancel': 'a caller that goes away cancels its call at the upstream',
  'call.recorded': 'every call is recorded, refused ones too, with secrets in its arguments blanked',
  'config.round-trip':
    'the configuration shows no secret, and what was shown can be posted back without loss',
  'config.hot-reload':
    'a server written into the file appears without a restart, and the others are not touched',
  'config.discover': 'a discovery lists all servers side by side and tells the outcome of each',
  'lean.functions':
    "an app's plain functions are the tools of any MCP client that spawns the bridge, with no orchestrator",
  'lean.every-tool': 'every tool that a session is given is listed and can be called',
  'lean.same-name': 'two sessions of a process have tools of one name with handlers of their own, at once',
  'lean.stranger':
    "a session's token opens no other session, and a stranger's session and a missing one look alike",
  'lean.platform-tools': 'the platform tools are exactly the four that are pinned',
  'lean.orchestrator':
    'with an orchestrator the platform tools are offered and their calls go there, without one they are not',
  'lean.claude': 'the sample app runs Claude Code with its functions, and with no other server',
  'lean.codex': 'the sample app runs Codex with its functions, and with no other server',
  'docker.call': "a server in a container of the entry's image is listed and called like any other",
  'docker.sessions': 'two sessions have two containers, and the end of a session removes its container alone',
  'docker.killed':
    'an orchestrator that is killed leaves no container, not even of a server that heeds nothing',
  'docker.leftovers': 'containers whose guard was killed too are removed at the next start in the same home',
  'docker.image-missing': 'an image that is not there is named, with how to get it',
  'docker.engine-missing': 'a container engine that is not there is named by the socket that was tried',
  'docker.out-of-memory': 'a container that is ended for its memory is told as that, with its limit',
  'docker.plain-command': 'docker run -i works as the command of an entry',
  'faults.survived':
    'kills, stops, silence: each time the right error reaches the right caller, nobody else notices, and nothing is left',
  'security.origin': 'requests with a foreign Host or Origin are refused',
  'security.files': 'token, socket and store can be read by their owner alone',
  'security.child-environment':
    "a server's process gets an allow-list of the environment, not the orchestrator's own",
} as const;

export type RequirementId = keyof typeof requirements;

/** Registers the test that shows a promise, under the promise's own sentence. */
export function verifies(id: RequirementId, run: () => Promise<void> | void, timeoutMs?: number): void {
  test(requirements[id], run, timeoutMs);
}
