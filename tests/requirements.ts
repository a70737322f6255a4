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
  'fidelity.fifty-shared-http':
    'fifty clients that share one connection over HTTP get the questions and log lines of their own calls, each of them',
  'bridge.nothing-crosses':
    'two bridges whose ids both start at 0 make two hundred calls each with progress on, and nothing crosses',
  'bridge.end-cancels':
    'a bridge that is ended in mid-call by stdin end, SIGTERM or SIGINT is gone, and the upstream saw the cancellation',
  'bridge.restart': 'a call after a restart of the orchestrator succeeds with no action by the client',
  'bridge.session-ends': 'the upstream processes of a session end when its bridge is killed',
  'bridge.policy':
    'a client whose bridge has the token of a session lists and calls what the session may use, and hears why else not',
  'bridge.approval-keeps-waiting':
    'a call or a question that waits for a person keeps its client waiting by progress, past the client’s own limit',
  'sessions.one-predicate': 'what a session may use is the same in the list, the spec, /mcp and the gate',
  'sessions.child': 'a child session never has more than its parent, and ends with it',
  'sessions.token': 'the token of a session is useless for another one, and can be revoked',
  'sessions.approve': 'a call that needs a yes waits for a person, and runs or is refused as they say',
  'sessions.custom-tools':
    'a custom tool is listed and callable in its session alone, and two sessions may have one of the same name',
  'sessions.restart': 'a restart loses no session, policy, token or custom tool',
  'catalog.search-mode': 'in search mode a few tools find, describe and call the others, within the policy',
  'catalog.code-mode':
    'in code mode a model finds tools as typed functions and calls them from JavaScript in the sandbox',
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
  'bad.large-memory':
    'results past 10 MB, one after the other, leave the memory of bridge and orchestrator where it was',
  'hostile.patterns': 'a pattern over which a check would go back and forth for years holds nobody up',
  'bad.split-characters': 'emoji split over chunk borders arrive whole, in both directions',
  'session.stranger': 'a session of somebody else and a missing one get the same answer',
  'session.isolated': 'two sessions have their own processes of a server; a shared server has one for both',
  'session.deleted': 'ending a session cancels its calls and ends its upstream processes',
  'call.deadline': 'a call that passes its deadline is cancelled at the upstream and reported with the time',
  'call.cancel': 'a caller that goes away cancels its call at the upstream',
  'call.turns':
    'calls that work on one thing, named by their arguments, run one after the other, whosever they are; others do not wait',
  'call.recorded': 'every call is recorded, refused ones too, with secrets in its arguments blanked',
  'upstreams.warm':
    'a server that asks for it has processes ready before a session’s first use, each for one session alone',
  'upstreams.no-room':
    'a call whose time passes while it waits for a process to end is told that there is no room, and leaves no start behind',
  'keys.rights-travel':
    'what a key may use bounds its sessions, their children, and every list that they see',
  'keys.least-privilege':
    'a key that is no admin’s reaches what is marked for it and nothing else, new routes included',
  'events.live': 'a running call is seen, can be cancelled from outside, and ends at its upstream',
  'events.resume':
    'a watcher that comes back gets every call that it missed, in order, once, over a restart too',
  'events.slow': 'a watcher that is too slow loses nothing but its place',
  'events.load':
    'under 2,000 calls a second with three watchers no call is lost, by the log or by them, and memory stays flat',
  'events.disk-full':
    'on a full disk calls go on, what waits for room is shown, and is recorded when there is some',
  'metrics.openmetrics':
    "Prometheus' own parser reads /metrics: calls, errors, latencies, states, queues, event-loop lag",
  'traces.joined':
    'one trace goes from a client through the bridge and the orchestrator to the upstream, on every road',
  'recordings.all':
    'a recorded session has every frame, is made again with its differences shown, and stands in for its servers',
  'page.login': "the printed link lets the owner's browser in, once, with a cookie that no script can read",
  'page.foreign-origin': 'a page of another origin can neither read, nor post, nor follow with the cookie',
  'call.once':
    'a call with an id of its caller is carried out once, also when it is sent again after a crash',
  'call.outcome-unknown':
    'a call that was cut off by a crash is not repeated: its outcome is told to be unknown, unless repeating does no harm',
  'approvals.parked':
    'a call whose caller does not wait is decided while nobody holds on, edited or refused, and survives a crash',
  'agent.three-tools': 'the agent calls three tools in turn and answers, and each step is seen as it happens',
  'agent.at-once':
    'independent calls run at once, their results in order, and one that fails does not sink the others',
  'agent.finds-nothing': 'an agent whose tools find nothing is told just that, and to say so',
  'agent.step-limit': 'an agent that reaches its limit of steps ends with what is known',
  'agent.cost-limit':
    'a run whose limit of costs is reached, by the price list and with all that works for it, ends and says so',
  'agent.images':
    'images in results reach the models that see them, within bounds, and other models are told that there was one',
  'agent.plan': 'a plan of four steps with one that fails is made anew and ends in one answer',
  'agent.replay': 'a run that is over is replayed step by step, from any step on',
  'agent.branches':
    'a conversation goes on where it ended, or from any entry as a branch that knows nothing of the other',
  'agent.structured':
    'a mission with a schema gives an answer that fits it, and one with faults names them all',
  'agent.prefixes':
    'what a mission does not cover is refused in the agent and by the orchestrator, both in the log',
  'agent.proposals':
    'a call that needs a yes pauses the run without a process, for one queue that all see: accepted, refused, expired',
  'agent.strangers':
    'a session sees its own conversations alone, and an agent cannot answer its own proposals',
  'agent.brains':
    'each brain streams through awkward chunks, waits out 429, 529, 500 and cut streams, and has stand-ins',
  'agent.command': 'agent "question" writes the answer to stdout and nothing else, and its steps to stderr',
  'agent.bridge': 'an MCP client asks the agent through mcpbridge and hears of its progress',
  'agent.crash':
    'a run of the agent that is killed anywhere is taken up at the next start and calls every tool exactly once',
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
  'workspace.own-folder':
    'a session without folders has its own, empty at first, and another one’s is not there',
  'workspace.policy-folders':
    'the folders of a policy are obeyed, and those of a child lie within its parent’s',
  'workspace.lost-update': 'of two writers who read the same version, one is told that the other was first',
  'workspace.whole-writes':
    'while a file is written again and again, a reader sees one whole version or the other',
  'semantic.meaning': 'a passage is found by what it means, without a word in common and without any service',
  'semantic.in-step': 'what is written, changed, moved or deleted, by whomever, is found as it is now',
  'semantic.guard': 'passages come from nowhere but the folders of the session',
  'semantic.provider':
    'an OpenAI-compatible provider ranks passages, each is sent once, and words decide while it is down',
  'read-image.model': 'read_image asks the model that is set, in OpenAI’s or Anthropic’s format',
  'browser.commands': 'agent_browser opens, reads, fills, clicks and looks at a page, command by command',
  'browser.private': 'a browser reaches no private address by any way, unless the operator allows it',
  'browser.ends': 'browsers end when they are idle, with their session, and however the orchestrator ends',
  'security.canary':
    'a secret of the configuration, of arguments or of results is in no log, store, event, metric or export',
  'shell.streaming': 'a command is heard as it prints, in whole characters',
  'shell.time-limit':
    'at its time limit a command ends with all that it started, whatever that does, and what it printed is answered',
  'shell.background': 'a command in the background can be looked at and ended, by its session alone',
  'shell.session-end': 'the end of a session ends its commands',
  'shell.at-once': '100 commands of 20 sessions at once: each output reaches its own caller',
  'shell.api-spec': 'get_api_spec tells what curl then calls from within a command',
  'shell.network': 'a command reaches the orchestrator if its policy says so, and nothing else in any case',
  'shell.files-hidden':
    "a command reads and changes nothing outside its session's folders: no token, no store, nobody's environment",
  'shell.exchanged-folders':
    'a folder that is exchanged for a link while a command of it starts lets the command in nowhere else',
  'shell.parent-unharmed': 'a command can harm neither the service nor the machine',
  'shell.no-network': 'a command reaches no address, no socket, and not the metadata of a cloud',
  'shell.one-way-out':
    'without namespaces too a command reaches the orchestrator alone: no other address, by no kind of socket',
  'shell.bounded': 'what a command takes is bounded, and the service and the next command are unharmed',
  'shell.fails-closed': 'where nothing confines commands they are refused, unless the operator says unsafe',
  'workspace.large-results':
    'a result over the limit of its session is a file in the workspace of that session, where its policy says so',
  'workspace.large':
    'a file of 2 GB is uploaded, and parts of it are read, in a memory that does not grow with it',
  'workspace.paths':
    'no trick with a path gets anything of others out of the workspace, or into it, on any route',
  'session.project': 'a bridge says the folder that it works in, and its session shows that and its client',
  'call.workspace-recorded':
    'a request to the workspace by its address is in the log of calls, refused ones too, with its secrets blanked',
  'dashboard.live':
    'a call by a real bridge is a row at once, running before it is ended, and its row changes in place',
  'dashboard.held': 'scrolled down, no row moves while calls come; the pill counts them and T shows them',
  'dashboard.two-clicks': 'why a call failed is one click away, and a replay’s answer one more',
  'dashboard.inert': 'words of tools are marked or inert: no request, no dialog, no style comes of them',
  'dashboard.approvals':
    'a yes waits until the end of long arguments was on screen, and a double click decides one card alone',
  'dashboard.recordings':
    'a session is recorded in the page, opened call by call with its frames, and made again with the differences shown',
  'dashboard.editor':
    'a fault of the configuration is underlined while it is typed, with what to do, and cannot be saved; a good one shows each outcome',
  'dashboard.agent':
    'a question asked on the page is followed step by step to its answer, and goes on from its end or on a branch',
  'dashboard.proposals':
    'a proposal of the agent is accepted in the browser, refused by curl, or expires, and every client sees one queue',
  'dashboard.accessible': 'axe finds nothing in any view, full',
  'dashboard.secrets': 'a secret is in no answer, document, address or storage of any view',
  'oauth.in-client':
    'an MCP client that knows nothing but the address is led to the login service, signs in, and lists and calls what its scopes give',
  'oauth.in-rights':
    'what the scopes of a token give is what it lists and calls; more is refused with the scopes that there are',
  'oauth.sign-in':
    'start and callback sign in at a server, its tools are listed, and a call carries the token',
  'oauth.one-renewal':
    'twenty processes that need a new token at once make one renewal, and all of them get its token',
  'oauth.taken-back':
    'a sign-in that was taken back says to sign in again: in the call, in the state, in the list; and that helps',
  'oauth.two-accounts':
    'two accounts of one service sign in, are listed, and each call carries the token of its own',
  'oauth.own-token':
    'two users of one server, fifty calls each in between each other: the server sees on each call its own user’s token',
  'oauth.addresses': 'an address of a login service that is no web address is given to nobody',
  'oauth.issuer': 'nothing is sent to a login service that is not the one it should be',
  'oauth.one-begins-one-ends': 'nobody can have another’s sign-in end as an account of one’s own',
  'security.origin': 'requests with a foreign Host or Origin are refused',
  'security.token-everywhere': 'every route but the open ones asks for the token',
  'security.no-passthrough': "a caller's token reaches no upstream server, which gets its own key alone",
  'attacks.spawn':
    'whoever is no admin starts no program by any shape of configuration, and a check of one starts none',
  'attacks.no-shell': 'commands and variables of entries are words, and no shell reads them',
  'attacks.own-address': 'who sets nothing gets an orchestrator that listens on 127.0.0.1 alone',
  'attacks.shadowing': 'no server can take a name of ours or of another server, nor one that looks like it',
  'attacks.no-remote-schema': 'a schema that refers to an address has nothing fetched',
  'secrets.use':
    'a secret is used by the servers that name it, a changed one at once, and one that is missing is a line at those alone',
  'secrets.never-read':
    'a secret is in no answer, log or file, once it was written, and nor is the one before',
  'security.outgoing':
    'no request goes to the metadata of a cloud, to link-local, translated or reserved addresses, however they are spelled',
  'security.attack-table': 'every promise that SECURITY.md names is one of these',
  'security.files': 'token, socket and store can be read by their owner alone',
  'security.child-environment':
    "a server's process gets an allow-list of the environment, not the orchestrator's own",
  'search.guard': 'a search and a glob show nothing that is blocked, outside, or behind a link',
  'search.two-engines':
    'a search with ripgrep and one without give the same lines, for texts and expressions, in either case',
} as const;

export type RequirementId = keyof typeof requirements;

/** Registers the test that shows a promise, under the promise's own sentence. */
export function verifies(id: RequirementId, run: () => Promise<void> | void, timeoutMs?: number): void {
  test(requirements[id], run, timeoutMs);
}
