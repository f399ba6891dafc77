// Collects, over all test files of a run, every secret that was made and every text that was put out: log, error
// answer, list answer, database dump. The search in tests/leaks reads it at the end. Answers that exist to carry a
// credential (bind and fetch) are not recorded.

import { appendFileSync, createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inject } from 'vitest';

export interface Recorded {
  /** In words for the report, for instance `binding token` or `broker log`. */
  readonly kind: string;
  readonly text: string;
}

export type RecordName = 'secrets' | 'outputs';

/** Shorter values occur in any text by chance; no secret of the product is that short. */
const SHORTEST_SECRET = 8;

/** Call it where a test makes or receives a secret: token, password, private key (PEM), sealing key. */
export function recordSecret(kind: string, value: string): void {
  if (value.length < SHORTEST_SECRET) {
    throw new Error(
      `the secret of kind "${kind}" has less than ${SHORTEST_SECRET} characters: it cannot be searched for`,
    );
  }
  append(inject('leakRecordFolder'), 'secrets', { kind, text: value });
}

export function recordOutput(kind: string, text: string): void {
  append(inject('leakRecordFolder'), 'outputs', { kind, text });
}

/** A file per process, so that parallel test files never write into each other's lines. */
export function append(folder: string, name: RecordName, entry: Recorded): void {
  appendFileSync(join(folder, `${name}-${process.pid}.jsonl`), `${JSON.stringify(entry)}\n`, {
    mode: 0o600,
  });
}

/** All entries of all processes, one at a time. */
export async function* readRecord(folder: string, name: RecordName): AsyncGenerator<Recorded> {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${name}-`));
  for (const file of files) {
    const lines = createInterface({ input: createReadStream(join(folder, file)) });
    for await (const line of lines) yield JSON.parse(line) as Recorded;
  }
}
