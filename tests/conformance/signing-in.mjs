// How the driver signs in: by itself, with the SDK's own client, or through the orchestrator, as its user would.
import {
  Client,
  ClientCredentialsProvider,
  PrivateKeyJwtProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

/** The suite knows this address, and reads no document at it. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json';
/** Sign-ins of one client for one thing, besides the first. */
const TRIES = 2;

/** The page of the suite's login service asks nobody: it sends the browser back at once. */
async function comeBack(address) {
  const response = await fetch(address, { redirect: 'manual' });
  return response.headers.get('location');
}

/** The server's entry, with what the scenario gives its client. */
export function entryFor(url, context) {
  const oauth = { client_metadata_url: DOCUMENT };
  if (context.client_id) oauth.client_id = context.client_id;
  if (context.client_secret) oauth.client_secret = context.client_secret;
  if (context.private_key_pem) {
    oauth.private_key = context.private_key_pem;
    oauth.algorithm = context.signing_algorithm;
  }
  if (process.env.MCP_CONFORMANCE_SCENARIO.includes('client-credentials')) oauth.grant = 'client_credentials';
  return { url, oauth };
}

/** Signs in as often as the server asks for it, before the first call and at each; gives what carries a call out. */
export async function signInThrough(orchestrator, headers) {
  const ask = async (path, body) => {
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {};
    const response = await fetch(`${orchestrator.url}${path}`, { ...init, headers });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error.message);
    return answer;
  };
  const signIn = async () => {
    const { authorization_url: address } = await ask('/api/oauth/start', { server: 'suite' });
    const response = await fetch(await comeBack(address));
    if (!response.ok) throw new Error(await response.text());
  };
  const stateOf = async () => {
    for (;;) {
      const server = await ask('/api/servers/suite');
      if (server.state !== 'starting') return server;
      await new Promise((next) => setTimeout(next, 50));
    }
  };
  if ((await stateOf()).sign_in?.state === 'needed') await signIn();
  await stateOf();
  return async (call) => {
    for (let tries = 0; ; tries += 1) {
      const [answer, failure] = await call().then(
        (value) => [value],
        (error) => [undefined, error],
      );
      const text = JSON.stringify(answer ?? [failure?.message, failure?.data]) ?? '';
      if (!text.includes('SIGN_IN_NEEDED') || text.includes('did not help') || tries >= TRIES) {
        if (failure) throw failure;
        return answer;
      }
      await signIn();
    }
  };
}

/** The SDK's client as its own documentation has it. */
export function signedInTransport(url, context, era) {
  const provider = providerFor(context);
  let current;
  const make = () => (current = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider }));
  const again = async (work) => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof UnauthorizedError) || !provider.back || tries >= TRIES) throw error;
        await current.finishAuth(new URL(provider.back).searchParams);
        // The next refusal may come from another login service than this one.
        provider.invalidateCredentials('discovery');
      }
    }
  };
  return {
    /** Whether it is let in is found out by a connection of its own. */
    async transport() {
      await again(async () => {
        const mode = era === 'modern' ? 'auto' : 'legacy';
        const probe = new Client(
          { name: 'conformance-driver', version: '1.0.0' },
          { versionNegotiation: { mode } },
        );
        await probe.connect(make());
        await probe.close();
      });
      return make();
    },
    signIn: again,
  };
}

function providerFor(context) {
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context;
  if (process.env.MCP_CONFORMANCE_SCENARIO.includes('client-credentials')) {
    return privateKey
      ? new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: context.signing_algorithm })
      : new ClientCredentialsProvider({ clientId, clientSecret });
  }
  let [client, tokens, verifier, discovery] = [
    clientId ? { client_id: clientId, client_secret: clientSecret } : undefined,
  ];
  const redirectUrl = 'http://127.0.0.1:3000/callback';
  return {
    back: undefined,
    redirectUrl,
    clientMetadataUrl: DOCUMENT,
    clientMetadata: {
      client_name: 'conformance-driver',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    clientInformation: () => client,
    saveClientInformation: (given) => void (client = given),
    tokens: () => tokens,
    saveTokens: (given) => void (tokens = given),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    saveDiscoveryState: (given) => void (discovery = given),
    discoveryState: () => discovery,
    invalidateCredentials(what) {
      if (what === 'all' || what === 'tokens') tokens = undefined;
      if (what === 'all' || what === 'client') client = undefined;
      if (what === 'all' || what === 'discovery') discovery = undefined;
    },
    async redirectToAuthorization(address) {
      this.back = await comeBack(address);
    },
  };
}
