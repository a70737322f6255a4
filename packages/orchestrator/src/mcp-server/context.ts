import type { Cancel } from '@mcpbridge/shared/cancel.js';
import type { Dialect } from '../dialects/dialect.js';
import type { CallListener } from '../providers/provider.js';
import type { Session } from '../sessions/session.js';
import { VERSION } from '../version.js';

export const SERVER_INFO = { name: 'mcpbridge', title: 'mcpbridge orchestrator', version: VERSION };

/** For whom a method is carried out. */
export interface MethodContext {
  session: Session;
  /** The one server of `/mcp/{server}`; undefined at `/mcp`. */
  scope: string | undefined;
  /** Name and version of the client. */
  client: string;
  /** How its tools are named and described; undefined: as they are. */
  dialect: Dialect | undefined;
  abort: Cancel;
  listener: CallListener;
}
