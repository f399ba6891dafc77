// Who asks: what authentication found, and what the platform claims about the person behind the request.

/** Returned by authentication and handed on; never hung on a request. */
export interface Caller {
  /** The authenticated user or client. */
  readonly name: string;
}

/** `X-Broker-API-Originating-Identity`, decoded; a claim of the platform that nobody has proven. */
export interface OriginatingIdentity {
  readonly platform: string;
  /** `user_id` (Cloud Foundry) or `username` (Kubernetes). */
  readonly user: string | undefined;
}

export interface BindingContext {
  readonly email: string | undefined;
  readonly origin: string | undefined;
}

/** The `created_by` of a binding, by the order of docs/api.md, "Bind". */
export function creatorOf(
  caller: Caller,
  context: BindingContext,
  identity: OriginatingIdentity | undefined,
): string {
  if (context.email !== undefined) {
    return context.origin === undefined ? context.email : `${context.email} ${context.origin}`;
  }
  if (context.origin !== undefined) {
    return context.origin;
  }
  return identity?.user === undefined ? caller.name : `${identity.user} ${identity.platform}`;
}
