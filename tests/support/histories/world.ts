// What a history happens to: requests and their answers, what else can befall a broker, and an onlooker's view of the
// ledger and of the cluster, which no fault keeps from seeing.
import type { BindOrder, Replica, StalledOrder } from './history.ts';

export interface Credential {
  readonly token: string;
  /** The name of its grant, as the token itself says. */
  readonly grant: string;
  readonly expiresAt: Date;
}

export interface Refused {
  readonly outcome: 'refused';
  readonly code: string;
}

export interface HandedOut<Outcome extends string> {
  readonly outcome: Outcome;
  readonly credential: Credential;
}

export type BindAnswer = HandedOut<'issued' | 'same'> | Refused;
export type FetchAnswer = HandedOut<'shown'> | Refused;
export type UnbindAnswer = { readonly outcome: 'ended' } | Refused;
export type AskAnswer = { readonly outcome: 'reported'; readonly state: string } | Refused;

/** A bind that is under way and gets no further. */
export interface StalledBind {
  readonly outcome: 'stalled';
  resume(): Promise<BindAnswer>;
}

export interface SeenGrant {
  readonly name: string;
  readonly binding: string;
  /** Undefined where no outcome was stored. */
  readonly expiresAt: Date | undefined;
  readonly isOrderedToEnd: boolean;
  readonly hasEnded: boolean;
  /** Somebody will come to it by himself. */
  readonly isToBeLookedAt: boolean;
}

export interface Seen {
  readonly grants: readonly SeenGrant[];
  /** The names of all our objects on the cluster, once for each object. */
  readonly objects: readonly string[];
}

/** Called when a request has begun to wait for the writer of its binding. */
export type WhenWaiting = () => Promise<void>;

export interface World {
  now(): Date;
  passTime(seconds: number): Promise<void>;
  bind(order: BindOrder, whenWaiting: WhenWaiting): Promise<BindAnswer>;
  /** Its replica is seen at its start and, where that is asked for, for as long as the history goes. */
  stall(order: StalledOrder, whenWaiting: WhenWaiting): Promise<StalledBind | BindAnswer>;
  fetch(binding: string): Promise<FetchAnswer>;
  ask(binding: string): Promise<AskAnswer>;
  unbind(binding: string, by: Replica, whenWaiting: WhenWaiting): Promise<UnbindAnswer>;
  deprovision(): Promise<void>;
  takeDown(): void;
  bringUp(): void;
  /** One pass each. */
  expire(): Promise<void>;
  finish(): Promise<void>;
  sweep(): Promise<void>;
  look(): Promise<Seen>;
  /** Whether the cluster does what is asked with it. */
  honours(credential: Credential): Promise<boolean>;
}
