// What every order of an operator names.

export interface OperatorOrder {
  /** OSB id. */
  readonly instanceId: string;
  /** Who orders it. */
  readonly actor: string;
  /** Form was checked before (domain/reason.ts). */
  readonly reason: string;
}
