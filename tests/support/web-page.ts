import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebPages {
  port: number;
  /** Paths that were asked for, in order. */
  asked: string[];
  stop(): Promise<void>;
}

const PAGES: Record<string, string> = {
  '/': `<!doctype html><title>Orders</title><h1>Orders</h1>
    <form onsubmit="event.preventDefault(); document.querySelector('#said').textContent = 'Hello ' + name.value + ' (' + size.value + ')'">
      <label>Name <input id="name" name="name"></label>
      <label>Size <select id="size"><option>small</option><option>large</option></select></label>
      <button>Send</button></form>
    <p id="said"></p><input type="file" id="file" onchange="file.files[0].text().then((t) => { said.textContent = file.files[0].name + ': ' + t; })">
    <a href="/second">Second</a> <a href="/report.csv" download>Report</a>
    <div style="height: 3000px"></div><p id="below">Below</p>
    <script>console.log('loaded'); localStorage.visits = Number(localStorage.visits || 0) + 1; const said = document.querySelector('#said');</script>`,
  '/second': `<!doctype html><title>Second</title><button onclick="alert('Sure?'); throw new Error('thrown by the page')">Throw</button>`,
};

/** A small site for a browser. */
export async function startPages(): Promise<WebPages> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    asked.push(url.pathname);
    if (url.pathname === '/report.csv') {
      response
        .writeHead(200, { 'content-disposition': 'attachment; filename="report.csv"' })
        .end('a,b\n1,2\n');
    } else if (url.pathname === '/away') {
      response.writeHead(302, { location: url.searchParams.get('to') ?? '/' }).end();
    } else {
      const page = PAGES[url.pathname];
      response.writeHead(page ? 200 : 404, { 'content-type': 'text/html' }).end(page ?? 'nothing here');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
