// A broker inside the test's own process: composed as `serve` does it, with real listeners on free ports, and with a
// clock that the test may own. Its log goes to the leak record.

import { compose, type Composition, type Surroundings } from '../../src/app/compose.ts';
import { JUDGES } from '../../src/app/configured.ts';
import { type RunningBroker, start } from '../../src/app/lifecycle.ts';
import { backgroundPasses } from '../../src/app/passes.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { brokerSettings } from './broker-settings.ts';
import { recordOutput, recordSecret } from './leak-record.ts';
import { Operator } from './operator.ts';
import { Platform } from './platform.ts';

export interface TestBroker extends Pick<RunningBroker, 'publicUrl' | 'operatorUrl' | 'serving'> {
  readonly platform: Platform;
  readonly operator: Operator;
  readonly composition: Composition;
  /** Lines so far, parsed. */
  log(): readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
}

export interface TestBrokerOptions {
  readonly databaseUrl: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Text of the file that RUNTIME_BROKER_CONFIG names. */
  readonly configFile?: string;
  /** Text of further files, by the names that settings have for them. */
  readonly files?: Readonly<Record<string, string>>;
  readonly given?: Partial<Surroundings>;
  /** Where false, operations run, and nothing else in the background: a test runs the reconcilers' passes itself. */
  readonly reconciles?: boolean;
}

/** Returns once the listeners are open; `serving` tells when the database was reached. */
export async function openBroker(options: TestBrokerOptions): Promise<TestBroker> {
  const file = options.configFile === undefined ? {} : { RUNTIME_BROKER_CONFIG: 'config.yaml' };
  const settings = brokerSettings(options.databaseUrl, { ...file, ...options.env });
  const textOf = (path: string): string => options.files?.[path] ?? options.configFile ?? '';
  const read = readConfig(settings.env, textOf, JUDGES);
  if (!read.ok) {
    throw new Error(`the test's configuration is wrong: ${JSON.stringify(read.faults)}`);
  }
  const lines: string[] = [];
  const log = createLogger(
    { level: 'debug', format: 'json' },
    { write: (line) => void lines.push(line) },
  );
  const composition = compose(read.config, { log, ...options.given });
  const { commandSecret } = composition;
  if (commandSecret !== undefined) recordSecret('secret of commands', commandSecret.reveal());
  const running = await start(composition, passesOf(composition, options));
  return {
    ...running,
    composition,
    platform: new Platform({ ...settings, url: running.publicUrl }),
    operator: new Operator({ ...settings.operator, url: running.operatorUrl }),
    log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    async stop() {
      await running.stop();
      recordOutput('broker log', lines.join(''));
    },
  };
}

function passesOf({ broker }: Composition, { reconciles = true }: TestBrokerOptions) {
  const passes = backgroundPasses(broker);
  return reconciles ? passes : passes.filter(({ name }) => name === 'wake-operations');
}

/** As openBroker, and serving. */
export async function startBroker(options: TestBrokerOptions): Promise<TestBroker> {
  const broker = await openBroker(options);
  await broker.serving;
  return broker;
}
