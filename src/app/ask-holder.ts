// A command that is given to the process which has the data folder, since nobody beside it can open the database. That
// process may be at it for minutes, so the answer is waited for without a limit; a process that ends breaks it off.
import { request } from 'node:http';
import type { CommandOutcome, GivenCommand } from '../http/operator/commands.ts';
import { isJsonObject, type JsonValue } from '../domain/json.ts';
import { EXIT_FAILED } from './exit-status.ts';
import type { Held } from './prepare.ts';

/** Never throws: what keeps the holder from answering is the outcome. */
export async function askHolder(held: Held, command: GivenCommand): Promise<CommandOutcome> {
  try {
    const { status, text } = await post(held, command);
    const answer = JSON.parse(text) as JsonValue;
    return status === 200 ? (answer as unknown as CommandOutcome) : failed(held, wordsOf(answer));
  } catch (error) {
    return failed(held, error instanceof Error ? error.message : 'unknown error');
  }
}

function failed({ address }: Held, why: string): CommandOutcome {
  const sentence = `The broker that has the data folder, at ${address}, did not do it: ${why}`;
  return { exitStatus: EXIT_FAILED, output: [], complaints: [sentence] };
}

function wordsOf(answer: JsonValue): string {
  const description = isJsonObject(answer) ? answer['description'] : undefined;
  return typeof description === 'string' ? description : 'its answer says nothing.';
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

function post({ address, commandSecret }: Held, command: GivenCommand): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const asking = request(
    new URL('/commands', address),
    {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${commandSecret.reveal()}`,
        'content-type': 'application/json',
      },
    },
    (answer) => {
      const chunks: string[] = [];
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode, text: chunks.join('') }));
      answer.on('error', reject);
    },
  );
  asking.on('error', reject);
  asking.end(JSON.stringify(command));
  return promise;
}
