// What only the owner of a package can say about a setting. Handed in, so that this folder knows no driver and no
// schema compiler, and all faults are still told at once.
import type { JsonObject } from '../domain/json.ts';
import type { Secret } from '../domain/secret.ts';

/** Each returns what is wrong, as a noun phrase that shows nothing of a secret, or undefined. */
export interface Judges {
  /** Of a URL of the right scheme: whether the driver can use it. */
  readonly databaseUrl: (url: Secret) => string | undefined;
  /** Of a schema of the right form: whether it can be enforced. */
  readonly parameterSchema: (schema: JsonObject) => string | undefined;
  /** Of a kubeconfig's text: whether it leads to a cluster. */
  readonly kubeconfig: (text: Secret) => string | undefined;
}
