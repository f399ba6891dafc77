// What the story is played with, and how one of its steps runs.

import type { BrokerProcess } from './broker-process.ts';
import type { ClusterUser } from './cluster-user.ts';
import type { DemoFiles } from './data-folder.ts';
import type { Narration } from './narration.ts';
import type { Osb, Wish } from './osb.ts';
import type { Unwinding } from './unwinding.ts';

export interface Stage {
  /** `sandbox`: the instance stays for the next run; `attached`: the person's cluster is left as it was found. */
  readonly cluster: 'sandbox' | 'attached';
  readonly wish: Wish;
  /** Path of the program, where the machine has one. */
  readonly kubectl: string | undefined;
  readonly user: ClusterUser;
  readonly broker: BrokerProcess;
  readonly osb: Osb;
  readonly dataFolder: string;
  readonly files: DemoFiles;
  readonly narration: Narration;
  readonly unwinding: Unwinding;
  readonly interruption: AbortSignal;
}

/** Not begun once somebody has asked for the end. `tell` makes the lines below it from what came of it. */
export async function step<T>(
  { narration, interruption }: Stage,
  title: string,
  {
    run,
    tell,
  }: { readonly run: () => Promise<T>; readonly tell: (result: T) => readonly string[] },
): Promise<T> {
  interruption.throwIfAborted();
  const result = await narration.step(title, run);
  narration.details(tell(result));
  return result;
}
