// Where commands of this machine ask the process that alone has the database (docs/configuration.md, "Commands"). Only
// who can read the lock file of its data folder knows the secret that opens it, and that is another one at each start.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';

import type { Secret } from '../../domain/secret.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { strangerRefusal } from '../auth/stranger-refusal.ts';
import { bodyFault } from '../body-faults.ts';
import { answerFailure } from '../failures.ts';
import { gateRefusal, type IsServing } from '../gate.ts';
import { goOnUnless } from '../refusal.ts';
import { answerToFailure } from './errors.ts';

/** What a command has come to, to be shown where it was given. */
export interface CommandOutcome {
  /** Of the process that gave it. */
  readonly exitStatus: number;
  /** Lines for its standard output. */
  readonly output: readonly string[];
  /** Lines for its standard error. */
  readonly complaints: readonly string[];
}

export interface GivenCommand {
  readonly name: string;
  readonly args: readonly string[];
  /** Who gave it, as far as their own process knows. */
  readonly actor: string;
}

export interface CommandParts {
  readonly commandSecret: Secret;
  readonly runCommand: (command: GivenCommand) => Promise<CommandOutcome>;
}

const CommandBody = Type.Object(
  { name: Type.String(), args: Type.Array(Type.String()), actor: Type.String() },
  { additionalProperties: false },
);

export function mountCommands(
  server: FastifyInstance,
  parts: CommandParts & { readonly isServing: IsServing; readonly log: Logger },
): void {
  const { commandSecret, runCommand, isServing, log } = parts;
  const authenticator = secretAuthenticator(commandSecret);
  void server.register((plain, _options, done) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>();
    scope.addHook('onRequest', (request, reply, goOn) => {
      const refusal = strangerRefusal(authenticator, request.headers) ?? gateRefusal(isServing);
      goOnUnless(refusal, reply, goOn);
    });
    scope.setSchemaErrorFormatter(bodyFault);
    scope.setErrorHandler((error, request, reply) =>
      answerFailure(log, error, { answer: answerToFailure(error), request, reply }),
    );
    scope.post('/commands', { schema: { body: CommandBody } }, async ({ body }, reply) =>
      reply.send(await runCommand(body)),
    );
    done();
  });
}

const FORM = /^bearer +([\w-]+)$/i;

/** Hashes have one length whatever they are of, so that comparing them tells nothing by its time. */
function secretAuthenticator(secret: Secret): Authenticator {
  const expected = digest(secret.reveal());
  return {
    challenge: 'Bearer realm="commands"',
    authenticate: ({ authorization = '' }) => {
      const given = FORM.exec(authorization)?.[1];
      return given !== undefined && timingSafeEqual(digest(given), expected)
        ? { name: 'command' }
        : undefined;
    },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
