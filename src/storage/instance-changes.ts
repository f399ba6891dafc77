// What a PATCH makes of an instance: applied in the transaction that ends its operation, or at once where only the
// context changes. What an operation that runs is to change lies in its own row (operations.ts).
import type { Accounts } from '../domain/accounts.ts';
import type { JsonObject } from '../domain/json.ts';
import type { OpenTransaction, Tx } from './database.ts';
import { change } from './instances.ts';

export interface AppliedChange {
  readonly parameters: JsonObject;
  /** Undefined leaves each of them as it is. */
  readonly name: string | undefined;
  readonly region: string | undefined;
  readonly accounts: Accounts;
  /** Sealed for `accessPlace`. */
  readonly sealedAccess: string | undefined;
  readonly at: Date;
}

export async function applyChange(
  tx: OpenTransaction,
  key: string,
  { parameters, name, region, accounts, sealedAccess, at }: AppliedChange,
): Promise<void> {
  await change(tx, key, at)
    .set({
      parameters: JSON.stringify(parameters),
      ...(name === undefined ? {} : { name }),
      ...(region === undefined ? {} : { region }),
      ...columnsOf(accounts),
      ...(sealedAccess === undefined ? {} : { sealed_access: sealedAccess }),
    })
    .execute();
}

/** Those that are given; the others stay. */
export async function changeAccounts(
  tx: Tx,
  key: string,
  { accounts, at }: { readonly accounts: Accounts; readonly at: Date },
): Promise<void> {
  await change(tx, key, at).set(columnsOf(accounts)).execute();
}

function columnsOf({ globalAccountId, subaccountId, userId }: Accounts) {
  return {
    ...(globalAccountId === undefined ? {} : { global_account_id: globalAccountId }),
    ...(subaccountId === undefined ? {} : { subaccount_id: subaccountId }),
    ...(userId === undefined ? {} : { user_id: userId }),
  };
}

/** The runtime that the instance is to have from now on. */
export async function nameRuntime(
  tx: OpenTransaction,
  key: string,
  { runtimeId, at }: { readonly runtimeId: string; readonly at: Date },
): Promise<void> {
  await change(tx, key, at).set({ runtime_id: runtimeId }).execute();
}

/** Its cluster was removed, and nobody is to look for it any more; the next one is another. */
export async function detachCluster(
  tx: OpenTransaction,
  key: string,
  { at }: { readonly at: Date },
): Promise<void> {
  await change(tx, key, at)
    .set({
      cluster_uid: null,
      cluster_server: null,
      cluster_ca: null,
      cluster_tls_server_name: null,
      next_scan_at: null,
      scan_position: null,
    })
    .execute();
}
