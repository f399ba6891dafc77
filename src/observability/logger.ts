// The log: one structured line per fact, as JSON or readable on a terminal. Secrets are kept out by type: a `Secret`
// writes itself as `[secret]`, so nothing here has to guess by the names of keys.
import { destination, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';
import { prettyFactory } from 'pino-pretty';
import { renderErrorChain } from './error-chain.ts';

/** What everything that logs is handed. Errors go under the key `err`; a name of ours never under `time` or `msg`. */
export type Logger = PinoLogger;

export interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly format: 'json' | 'pretty';
}

/** Takes one finished line, its line break included. */
export interface LogSink {
  write(line: string): void;
}

/** @param sink standard output unless given; written at once, so that a crash loses no line */
export function createLogger(
  { level, format }: LogSettings,
  sink: LogSink = destination({ fd: 1, sync: true }),
): Logger {
  return pino(
    {
      level,
      // Neither process id nor host name: who collects logs adds both, and more reliably.
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: renderErrorChain },
    },
    format === 'pretty' ? prettySink(sink) : sink,
  );
}

function prettySink(sink: LogSink): LogSink {
  const pretty = prettyFactory({ colorize: false, singleLine: true, translateTime: 'HH:MM:ss.l' });
  return { write: (line) => sink.write(pretty(line)) };
}
