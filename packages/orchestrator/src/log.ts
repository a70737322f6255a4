import { redactByKey } from '@mcpbridge/shared/redact.js';
import winston from 'winston';

export type Log = winston.Logger;

/** JSON lines on stderr; stdout is left to what the program says to the person who started it. */
export function createLog(level: string): Log {
  const { format, transports } = winston;
  return winston.createLogger({
    level,
    format: format.combine(format.timestamp(), format.json()),
    transports: [new transports.Console({ stderrLevels: Object.keys(winston.config.npm.levels) })],
  });
}

/** From now on no line holds what is a secret. */
export function hideInLog(log: Log, hide: (text: string) => string): void {
  const { format } = winston;
  // Onto the line itself: it also holds the level under a symbol, which a copy would lack.
  const hiding = format((line) => Object.assign(line, redactByKey(line, { hide })));
  log.format = format.combine(hiding(), log.format);
}
