import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideOrphan, type OrphanDecision, type OrphanFacts, type OrphanRow } from './orphans.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');

const LIVE: OrphanRow = {
  isOfThisPlace: true,
  uid: 'its-uid',
  hasEnded: false,
  isToBeLookedAt: true,
  isOutOfReach: false,
};
const UNFINISHED: OrphanRow = { ...LIVE, uid: undefined };
const ENDED: OrphanRow = { ...LIVE, hasEnded: true, isToBeLookedAt: false };
const ENDED_WITHOUT_OUTCOME: OrphanRow = { ...ENDED, uid: undefined };

function facts(change: Partial<OrphanFacts>): OrphanFacts {
  return {
    uid: 'its-uid',
    markedAt: new Date('2026-03-01T11:00:00.000Z'),
    row: undefined,
    restoreConfirmedAt: undefined,
    ...change,
  };
}

const at = (time: string): Date => new Date(time);

const TABLE: readonly (readonly [string, Partial<OrphanFacts>, OrphanDecision])[] = [
  ['has no valid mark and no row', { markedAt: undefined }, 'report'],
  [
    'has no valid mark, though a live row has its name',
    { markedAt: undefined, row: LIVE },
    'report',
  ],
  [
    'has no valid mark, though an ended row has its name',
    { markedAt: undefined, row: ENDED },
    'report',
  ],
  [
    'has no valid mark, whatever was confirmed',
    { markedAt: undefined, restoreConfirmedAt: NOW },
    'report',
  ],
  ['is what a live row recorded', { row: LIVE }, 'leave'],
  ['has the name of a row whose outcome is not known', { row: UNFINISHED }, 'leave'],
  ['has the name of a live row with another uid', { row: LIVE, uid: 'other' }, 'foreign'],
  ['has the name of an ended row with another uid', { row: ENDED, uid: 'other' }, 'foreign'],
  [
    'was copied to another place, of a live row',
    { row: { ...LIVE, isOfThisPlace: false } },
    'foreign',
  ],
  [
    'was copied to another place, of an unfinished row',
    { row: { ...UNFINISHED, isOfThisPlace: false } },
    'foreign',
  ],
  [
    'was copied to another place, of an ended row',
    { row: { ...ENDED_WITHOUT_OUTCOME, isOfThisPlace: false } },
    'foreign',
  ],
  ['is left of a row that ended without an outcome', { row: ENDED_WITHOUT_OUTCOME }, 'reopen'],
  [
    'is left of such a row whose instance cannot end it any more',
    { row: { ...ENDED_WITHOUT_OUTCOME, isOutOfReach: true } },
    'remove',
  ],
  [
    'has the name of a row that is not ended, whatever became of its instance',
    { row: { ...UNFINISHED, isOutOfReach: true } },
    'leave',
  ],
  ['is what an ended row recorded', { row: ENDED }, 'remove'],
  [
    'is left of an ended row that is looked at once more',
    { row: { ...ENDED_WITHOUT_OUTCOME, isToBeLookedAt: true } },
    'leave',
  ],
  ['has no row and is of this moment', { markedAt: NOW }, 'wait'],
  ['has no row and is of the future', { markedAt: at('2027-03-01T12:00:00.000Z') }, 'wait'],
  [
    'has no row and is not yet five minutes old',
    { markedAt: at('2026-03-01T11:55:00.001Z') },
    'wait',
  ],
  [
    'is not yet five minutes old, though confirmed',
    { markedAt: at('2026-03-01T11:55:00.001Z'), restoreConfirmedAt: NOW },
    'wait',
  ],
  ['has no row at five minutes', { markedAt: at('2026-03-01T11:55:00.000Z') }, 'suspect-restore'],
  [
    'has no row a minute before a day is over',
    { markedAt: at('2026-02-28T12:01:00.001Z') },
    'suspect-restore',
  ],
  [
    'has no row when a day less a minute is over',
    { markedAt: at('2026-02-28T12:01:00.000Z') },
    'remove',
  ],
  ['has no row after weeks', { markedAt: at('2026-02-01T12:00:00.000Z') }, 'remove'],
  [
    'was marked before the confirmation',
    { restoreConfirmedAt: at('2026-03-01T11:30:00.000Z') },
    'remove',
  ],
  [
    'was marked in the moment of the confirmation',
    { restoreConfirmedAt: at('2026-03-01T11:00:00.000Z') },
    'remove',
  ],
  [
    'was marked after the confirmation',
    { restoreConfirmedAt: at('2026-03-01T10:59:59.999Z') },
    'suspect-restore',
  ],
  [
    'is old, and was marked after the confirmation',
    {
      markedAt: at('2026-02-20T12:00:00.000Z'),
      restoreConfirmedAt: at('2026-02-19T12:00:00.000Z'),
    },
    'remove',
  ],
];

describe('an object with our labels', () => {
  it.each(TABLE)('that %s', (_, change, decision) => {
    expect(decideOrphan(facts(change), NOW)).toBe(decision);
  });

  it('is never removed or reopened without a valid mark, nor while a row may end it', () => {
    const row = fc.record({
      isOfThisPlace: fc.boolean(),
      uid: fc.option(fc.constantFrom('its-uid', 'other'), { nil: undefined }),
      hasEnded: fc.boolean(),
      isToBeLookedAt: fc.boolean(),
      isOutOfReach: fc.boolean(),
    });
    const anyFacts = fc.record({
      uid: fc.constant('its-uid'),
      markedAt: fc.option(fc.date({ noInvalidDate: true }), { nil: undefined }),
      row: fc.option(row, { nil: undefined }),
      restoreConfirmedAt: fc.option(fc.date({ noInvalidDate: true }), { nil: undefined }),
    });
    const isAllowed = (each: OrphanFacts): boolean => {
      const decision = decideOrphan(each, NOW);
      if (each.markedAt === undefined) return decision === 'report';
      if (each.row === undefined) return /^(remove|suspect-restore|wait)$/.test(decision);
      const { hasEnded, isToBeLookedAt, isOfThisPlace, uid, isOutOfReach } = each.row;
      const isNobodys = hasEnded && !isToBeLookedAt && isOfThisPlace;
      const unlessForeign = uid === undefined && !isOutOfReach ? 'reopen' : 'remove';
      if (/^(remove|reopen)$/.test(decision)) {
        return isNobodys && decision === unlessForeign && uid !== 'other';
      }
      return /^(leave|foreign)$/.test(decision);
    };
    expect(() => fc.assert(fc.property(anyFacts, isAllowed))).not.toThrow();
  });
});
