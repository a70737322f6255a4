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
