// A broker process that may not be able to serve yet: it is handed over as soon as both listeners are open, with ways
// to ask its probes and to read its log.

import { brokerSettings } from '../../support/broker-settings.ts';
import { type MainRun, runMain } from '../../support/broker-process.ts';
import { Platform } from '../../support/platform.ts';
import { until } from '../../support/until.ts';

export type LogLine = Readonly<Record<string, unknown>>;

export interface Probe {
  readonly status: number;
  readonly body: unknown;
}

export interface OpenedBroker {
  readonly run: MainRun;
  readonly platform: Platform;
  readonly publicUrl: string;
  readonly operatorUrl: string;
  /** Lines so far, parsed. */
  log(): readonly LogLine[];
  /** GET on the operator's listener, without credentials; `/readyz` and the like. */
  probe(path: string): Promise<Probe>;
  /** Returns once requests are served. */
  untilReady(): Promise<void>;
  /** Sends the signal and waits for the end. @returns the exit status; null after a signal */
  end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | null>;
}

/** Loading the sources takes two seconds on a busy machine, and connecting again after an outage five. */
const LIMIT_MS = 30_000;

export async function openBrokerProcess(options: {
  readonly databaseUrl: string;
  readonly env?: Readonly<Record<string, string>>;
}): Promise<OpenedBroker> {
  const settings = brokerSettings(options.databaseUrl, options.env);
  const run = runMain([], settings.env);
  const log = () => parsedLines(run.output());
  const isHopeless = () => (run.child.exitCode === null ? null : `it has ended: ${run.output()}`);
  const urlOf = (surface: string) =>
    log().find((line) => line['msg'] === 'listening' && line['surface'] === surface)?.['url'];
  await until({
    what: 'both listeners are open',
    limitMs: LIMIT_MS,
    isSo: () => urlOf('public') !== undefined && urlOf('operator') !== undefined,
    isHopeless,
  });
  const [publicUrl, operatorUrl] = [String(urlOf('public')), String(urlOf('operator'))];
  return {
    run,
    platform: new Platform({ ...settings, url: publicUrl }),
    publicUrl,
    operatorUrl,
    log,
    probe: (path) => ask(`${operatorUrl}${path}`),
    untilReady: () =>
      until({
        what: 'the broker is ready',
        limitMs: LIMIT_MS,
        isSo: async () => (await ask(`${operatorUrl}/readyz`)).status === 200,
        isHopeless,
      }),
    async end(signal) {
      run.child.kill(signal);
      return await run.ended();
    },
  };
}

async function ask(url: string): Promise<Probe> {
  const answer = await fetch(url);
  return { status: answer.status, body: await answer.json() };
}

/** The last line may be half written. */
function parsedLines(output: string): readonly LogLine[] {
  const complete = output.slice(0, output.lastIndexOf('\n') + 1);
  return complete
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);
}
