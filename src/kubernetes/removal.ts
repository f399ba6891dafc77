// Removes objects of a grant, whoever resists: the role binding is emptied before anything is deleted, since RBAC
// honours what is being deleted for as long as it can be seen, and what stays is cleared until it is gone. Which objects
// are ours, and what their end means, is left to those who call.

import { UpstreamError, type UpstreamReason } from '../domain/errors.ts';
import {
  clearObject,
  type ForeignObject,
  lookAt,
  type OwnedObject,
  type Reach,
  removeObject,
  type Sight,
} from './owned-object.ts';

/**
 * Three round trips where nobody resists. Throws an UpstreamError where something is still there.
 * @returns what has the name of one of them and another uid: never touched, counts as gone
 */
export async function removeObjects(
  reach: Reach,
  owned: readonly OwnedObject[],
): Promise<readonly ForeignObject[]> {
  const removal = new Removal(owned);
  await removal.emptyRoleBinding(reach);
  await removal.removeRest(reach);
  await removal.confirm(reach);
  return removal.foreign;
}

/** Rounds of deleting and clearing; each of them wins unless somebody writes finalizers in that very moment. */
const MAX_ROUNDS = 4;

/** How admission, which the holder may have taught to resist, refuses one object and not another. */
const OF_ONE_OBJECT: ReadonlySet<UpstreamReason> = new Set([
  'forbidden',
  'invalid',
  'conflict',
  'server-error',
]);

/** The objects that are still to go. What one of them resists with does not keep the others. */
export class Removal {
  readonly foreign: ForeignObject[] = [];
  readonly #left: Set<OwnedObject>;
  #refusal: UpstreamError | undefined;

  constructor(owned: readonly OwnedObject[]) {
    this.#left = new Set(owned);
  }

  async emptyRoleBinding(reach: Reach): Promise<void> {
    const roleBindings = [...this.#left].filter(({ kind }) => kind === 'ClusterRoleBinding');
    await this.#each(roleBindings, (object) => clearObject(reach, object));
  }

  async removeRest(reach: Reach): Promise<void> {
    await this.#each([...this.#left], (object) => removeObject(reach, object));
  }

  /** Reads back, and goes on removing until nothing of ours is left. */
  async confirm(reach: Reach): Promise<void> {
    for (let round = 1; ; round += 1) {
      await this.#each([...this.#left], (object) => lookAt(reach, object));
      if (this.#left.size === 0) return;
      if (round === MAX_ROUNDS) throw this.#refusal ?? notGone([...this.#left]);
      await this.emptyRoleBinding(reach);
      await this.removeRest(reach);
    }
  }

  /** A refusal that may concern one object alone is kept for later; any other failure is one of all calls. */
  async #each(
    objects: readonly OwnedObject[],
    act: (object: OwnedObject) => Promise<Sight>,
  ): Promise<void> {
    const outcomes = await Promise.allSettled(
      objects.map(async (object) => this.#note(object, await act(object))),
    );
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') continue;
      const reason: unknown = outcome.reason;
      if (!(reason instanceof UpstreamError) || !OF_ONE_OBJECT.has(reason.reason)) throw reason;
      this.#refusal ??= reason;
    }
  }

  #note(object: OwnedObject, sight: Sight): void {
    if (sight.is === 'there') return;
    this.#left.delete(object);
    if (sight.is === 'foreign') this.foreign.push(sight.object);
  }
}

function notGone(left: readonly OwnedObject[]): UpstreamError {
  const what = left.map(({ resource }) => resource).join(', ');
  return new UpstreamError({
    system: 'cluster',
    action: `delete ${what}`,
    reason: 'timed-out',
    detail: `still there after ${MAX_ROUNDS} rounds of deleting and clearing`,
  });
}
