// Who calls, as authentication found out; authorization and the reviews read it.

export interface User {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

export const AUTHENTICATED = 'system:authenticated';

/** May do everything, whatever RBAC says. */
export const MASTERS = 'system:masters';

export const ANONYMOUS: User = {
  username: 'system:anonymous',
  groups: ['system:unauthenticated'],
};

export function accountUsername(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

export function accountGroups(namespace: string): readonly string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
}
