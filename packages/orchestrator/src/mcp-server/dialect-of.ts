import type { DialectName } from '@mcpbridge/shared/dialect-names.js';
import { HEADER } from '@mcpbridge/shared/wire.js';
import { chooseDialect } from '../dialects/choose.js';
import type { Dialect } from '../dialects/dialect.js';
import { type Exchange, header } from '../http/exchange.js';

/** The dialect of who sent this, as its header says, or as the operator or its `clientInfo` has it. */
export type DialectOf = (exchange: Exchange, clientInfo: unknown) => Dialect | undefined;

export function dialectsWith(forAll: DialectName | undefined): DialectOf {
  return ({ request }, clientInfo) => chooseDialect(header(request, HEADER.dialect), forAll, clientInfo);
}
