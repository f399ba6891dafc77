// Slots and dead issues are counted in SQL and defined in the domain. Every combination of what they depend on is put
// into rows here, and both are asked; then heaps of them, for the sums.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Grant, issueIsDead } from '../../../src/domain/binding.ts';
import { type Slots, takesSlot } from '../../../src/domain/slots.ts';
import { readBindFacts } from '../../../src/storage/bind-facts.ts';
import { announceGrant } from '../../../src/storage/bindings.ts';
import { inTransaction } from '../../../src/storage/database.ts';
import { markDeadIssuesRevoking } from '../../../src/storage/grants.ts';
import { beat } from '../../../src/storage/replicas.ts';
import { describeOnEngines } from '../../support/engines-under-test.ts';
import { type Ledger, makeInstance, newGrant, NOW, openLedger, seconds } from './ledger.ts';

/** Offsets from now in seconds. */
interface Situation {
  readonly issuingUntil: number;
  /** Undefined: the replica is not known. */
  readonly replicaSeenAt: number | undefined;
  readonly expiresAt: number | undefined;
  readonly isRevoking: boolean;
  readonly hasEnded: boolean;
  /** What the request asked for; undefined where it left that to the plan. */
  readonly askedSeconds: number | undefined;
}

const ISSUING_UNTIL = [-1, 0, 0.001, 30] as const;
const REPLICA_SEEN_AT = [undefined, -60, -6.001, -6, 0, 1] as const;
const EXPIRES_AT = [undefined, -1, 0, 0.001, 600] as const;
const BOTH = [false, true] as const;
const ASKED_SECONDS = [undefined, 700] as const;

const ALL: readonly Situation[] = ISSUING_UNTIL.flatMap((issuingUntil) =>
  REPLICA_SEEN_AT.flatMap((replicaSeenAt) =>
    EXPIRES_AT.flatMap((expiresAt) =>
      BOTH.flatMap((isRevoking) =>
        BOTH.flatMap((hasEnded) =>
          ASKED_SECONDS.map((askedSeconds) => ({
            issuingUntil,
            replicaSeenAt,
            expiresAt,
            isRevoking,
            hasEnded,
            askedSeconds,
          })),
        ),
      ),
    ),
  ),
);

/** What was asked for decides nothing once there is a credential or an order to end, so it is varied only before. */
const SITUATIONS = ALL.filter(
  ({ askedSeconds, expiresAt, isRevoking, hasEnded }) =>
    askedSeconds !== undefined || (expiresAt === undefined && !isRevoking && !hasEnded),
);

describeOnEngines('the rules of slots and of dead issues', {}, (engine) => {
  let ledger: Ledger;
  const replicas = new Map<number | undefined, string>();

  beforeAll(async () => {
    ledger = await openLedger(engine);
    for (const seenAt of REPLICA_SEEN_AT) {
      const replicaId = randomUUID();
      replicas.set(seenAt, replicaId);
      if (seenAt !== undefined) {
        await beat(ledger.db, { replicaId, at: seconds(seenAt) });
      }
    }
  });
  afterAll(() => ledger.close());

  it('are the same in SQL as in the domain, situation by situation', async () => {
    expect(SITUATIONS).toHaveLength(504);
    const asked = SITUATIONS.map(async (situation) => {
      const { slots, deadIssues, binding } = await factsOf(await instanceWith([situation]));

      expect(binding?.grant).toMatchObject(asGrant(situation));
      expect({ situation, slots, deadIssues }).toEqual({ situation, ...expectation([situation]) });
    });
    await Promise.all(asked);
  });

  it('add up over many grants, and give the slots of dead issues back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...SITUATIONS), { minLength: 1, maxLength: 12 }),
        async (situations) => {
          const instanceKey = await instanceWith(situations);
          const before = expectation(situations);
          expect(await factsOf(instanceKey)).toMatchObject(before);

          const marked = await inTransaction(ledger.db, (tx) =>
            markDeadIssuesRevoking(tx, { instanceKey, now: NOW }),
          );

          expect(marked).toHaveLength(before.deadIssues);
          expect(await factsOf(instanceKey)).toMatchObject({
            slots: expectation(
              situations.map((each) => (isDead(each) ? { ...each, isRevoking: true } : each)),
            ).slots,
            deadIssues: 0,
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  async function instanceWith(situations: readonly Situation[]): Promise<string> {
    const { key } = await makeInstance(ledger.db);
    await inTransaction(ledger.db, async (tx) => {
      for (const [at, situation] of situations.entries()) {
        const grant = newGrant({
          replicaId: replicas.get(situation.replicaSeenAt) ?? '',
          intendedAt: announcedAt(at),
          issuingUntil: seconds(situation.issuingUntil),
        });
        const expirationSeconds = situation.askedSeconds;
        const binding = { instanceKey: key, id: `b${at}`, createdBy: 'x', expirationSeconds };
        await announceGrant(tx, { binding, grant });
        await tx
          .updateTable('grants')
          .set(columnsOf(situation))
          .where('id', '=', grant.id)
          .execute();
      }
    });
    return key;
  }

  async function factsOf(instanceKey: string) {
    const facts = await readBindFacts(ledger.db, { instanceKey, bindingId: 'b0', now: NOW });
    if (facts === undefined) {
      throw new Error('the instance is not there');
    }
    return facts;
  }
});

function columnsOf({ expiresAt, isRevoking, hasEnded }: Situation) {
  return {
    ...(expiresAt === undefined
      ? {}
      : {
          account_uid: 'a',
          role_uid: 'r',
          role_binding_uid: 'rb',
          issued_at: seconds(-700),
          expires_at: seconds(expiresAt),
          sealed_token: hasEnded ? null : 'sealed',
        }),
    revoking_since: isRevoking ? seconds(-2) : null,
    ...(hasEnded ? { ended_at: seconds(-1), proof: 'refused', next_try_at: null } : {}),
  };
}

type RuledGrant = Pick<
  Grant,
  'issuingUntil' | 'replicaSeenAt' | 'expiresAt' | 'revokingSince' | 'endedAt'
>;

function asGrant(situation: Situation): RuledGrant {
  const { replicaSeenAt, expiresAt } = situation;
  return {
    issuingUntil: seconds(situation.issuingUntil),
    replicaSeenAt: replicaSeenAt === undefined ? undefined : seconds(replicaSeenAt),
    expiresAt: expiresAt === undefined ? undefined : seconds(expiresAt),
    revokingSince: situation.isRevoking ? seconds(-2) : undefined,
    endedAt: situation.hasEnded ? seconds(-1) : undefined,
  };
}

/** The later ones earlier, so that the first is not always the earliest. */
function announcedAt(at: number): Date {
  return seconds(-1 - at);
}

/** By the functions of the domain alone. */
function expectation(situations: readonly Situation[]): { slots: Slots; deadIssues: number } {
  const taking = situations
    .map((situation, at) => ({ ...situation, announced: announcedAt(at) }))
    .filter((situation) => takesSlot(asGrant(situation), NOW));
  const known = taking.flatMap(({ expiresAt, askedSeconds, announced }) => {
    if (expiresAt !== undefined) return [seconds(expiresAt)];
    return askedSeconds === undefined ? [] : [new Date(announced.getTime() + askedSeconds * 1000)];
  });
  const byDefault = taking.filter(
    ({ expiresAt, askedSeconds }) => expiresAt === undefined && askedSeconds === undefined,
  );
  return {
    slots: {
      taken: taking.length,
      nextFreeAt: earliest(known),
      firstByDefaultAt: earliest(byDefault.map(({ announced }) => announced)),
    },
    deadIssues: situations.filter(isDead).length,
  };
}

function isDead(situation: Situation): boolean {
  const grant = asGrant(situation);
  return (
    grant.endedAt === undefined &&
    grant.expiresAt === undefined &&
    grant.revokingSince === undefined &&
    issueIsDead(grant as Grant, NOW)
  );
}

function earliest(times: readonly Date[]): Date | undefined {
  return times.toSorted((a, b) => a.getTime() - b.getTime())[0];
}
