// Whose an instance is, as far as the platform said. What a later request says replaces it, key by key.

export interface Accounts {
  readonly globalAccountId?: string;
  readonly subaccountId?: string;
  readonly userId?: string;
}

/** Whether recording `given` would change anything; what it leaves out stays. */
export function changesAccounts(current: Accounts, given: Accounts): boolean {
  const merged: Accounts = { ...current, ...given };
  return (
    merged.globalAccountId !== current.globalAccountId ||
    merged.subaccountId !== current.subaccountId ||
    merged.userId !== current.userId
  );
}
