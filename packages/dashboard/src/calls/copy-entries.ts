import type { CallDetails, CallRow } from '@mcpbridge/shared/call-row.js';
import { duration } from '../text/units';
import { copyText } from '../ui/clipboard';
import type { MenuEntry } from '../ui/menu';

const shellWord = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** What can be copied of a call; a token is never in it. */
export function copyEntries(call: CallRow, details?: CallDetails): MenuEntry[] {
  const link = `${window.location.origin}/calls/${call.id}`;
  const args = details && !details.argumentsCut ? details.arguments : undefined;
  const kind =
    call.kind === 'virtual'
      ? 'virtual'
      : call.kind === undefined || call.kind === 'mcp'
        ? `mcp/${encodeURIComponent(call.server)}`
        : 'custom';
  const curl = [
    `curl -sS -X POST ${window.location.origin}/api/tools/${kind}/${encodeURIComponent(call.tool)}`,
    `-H "Authorization: Bearer $MCP_API_TOKEN" -H ${shellWord(`X-Session-ID: ${call.session}`)}`,
    `-H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(args ?? {}))}`,
  ].join(' \\\n  ');
  const rpc = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: call.tool, arguments: args ?? {} },
  };
  const entry = (label: string, text: string, keys?: string): MenuEntry => ({
    label,
    ...(keys ? { keys } : {}),
    run: () => void copyText(text),
  });
  return [
    entry('Link', link, 'Y'),
    entry('Id', call.id),
    entry('curl', curl),
    entry('JSON', JSON.stringify(details ?? call, null, 2)),
    entry('JSON-RPC request', JSON.stringify(rpc, null, 2)),
    entry('Text for a bug report', report(call, details, link)),
  ];
}

function report(call: CallRow, details: CallDetails | undefined, link: string): string {
  return [
    `${call.server} · ${call.tool}: ${call.status}${call.code ? ` ${call.code}` : ''}${call.ms === undefined ? '' : ` after ${duration(call.ms)}`}`,
    `when: ${new Date(call.at).toISOString()}`,
    `client: ${call.client ?? 'unknown'}`,
    ...(details?.message ? [`said: ${details.message}`] : []),
    `arguments: ${JSON.stringify(details?.arguments ?? call.args)}`,
    link,
  ].join('\n');
}
