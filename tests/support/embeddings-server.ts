import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface EmbeddingsServer {
  url: string;
  /** Texts that were asked about, in all. */
  texts: string[];
  authorizations: Set<string | undefined>;
  /** Answers 500 while it is true. */
  broken: boolean;
  stop(): Promise<void>;
}

/** Speaks OpenAI's `POST /embeddings`; a text's vector says which of these it is about. */
const TOPICS = [/ship|boat|harbou?r|sail/gi, /bread|bakery|dough|oven/gi, /star|planet|telescope/gi];

export async function startEmbeddings(): Promise<EmbeddingsServer> {
  const running: Pick<EmbeddingsServer, 'texts' | 'authorizations' | 'broken'> = {
    texts: [],
    authorizations: new Set(),
    broken: false,
  };
  const server = createServer(async (request, response) => {
    const { input, model } = JSON.parse(await text(request)) as { input: string[]; model: string };
    running.authorizations.add(request.headers.authorization);
    if (request.url !== '/v1/embeddings' || running.broken) {
      response.writeHead(500).end('{"error":{"message":"out of order"}}');
      return;
    }
    running.texts.push(...input);
    const data = input.map((one, index) => ({ object: 'embedding', index, embedding: vector(one) }));
    response.setHeader('content-type', 'application/json');
    // Their order is not promised.
    response.end(JSON.stringify({ object: 'list', data: data.reverse(), model, usage: { total_tokens: 1 } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(running, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function vector(of: string): number[] {
  return [...TOPICS.map((topic) => of.match(topic)?.length ?? 0), 0.01];
}

async function text(request: IncomingMessage): Promise<string> {
  let whole = '';
  for await (const part of request) whole += part;
  return whole;
}
