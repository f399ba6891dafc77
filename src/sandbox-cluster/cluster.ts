// One cluster of a sandbox: its objects, who may do what in it, and what makes it that cluster and no other. Which
// requests it answers, and how, is left to routes/; what its controllers do, to controllers/.

import { type JsonObject, type KubeObject, kubeTime, mapAt, textAt } from './api/kube-object.ts';
import type { Clock, Draw, Surroundings } from './api/surroundings.ts';
import { AccountTokens } from './authn/account-tokens.ts';
import { Authenticator } from './authn/authenticator.ts';
import { makeTokenKey, TokenKey } from './authn/token-key.ts';
import { Resources } from './discovery/resources.ts';
import { DEFINITIONS } from './kinds/custom-resource-definitions.ts';
import { KEPT_NAMESPACES, NAMESPACE_RULES, NAMESPACES } from './kinds/namespaces.ts';
import { ObjectTable } from './objects/object-table.ts';
import { Authorizer } from './rbac/authorizer.ts';
import { bootstrapObjects } from './rbac/bootstrap-roles.ts';
import { RBAC_GROUP } from './rbac/rbac-resources.ts';
import type { Journal } from './store/sandbox-store.ts';

export interface ClusterSettings {
  /** What is asked beyond is shortened, with a warning. */
  readonly maxTokenSeconds: number | undefined;
}

/** Letters and digits: as many as no one guesses. */
const ADMIN_TOKEN_LETTERS = 48;

export class Cluster {
  readonly name: string;
  readonly objects: ObjectTable;
  readonly resources: Resources;
  readonly authorizer: Authorizer;
  readonly tokens: AccountTokens;
  readonly tokenKey: TokenKey;
  readonly authenticator: Authenticator;
  readonly settings: ClusterSettings;
  readonly clock: Clock;
  readonly draw: Draw;

  /** Founded where the journal is empty. */
  constructor(
    name: string,
    journal: Journal,
    given: Surroundings & { readonly settings: ClusterSettings },
  ) {
    this.name = name;
    this.clock = given.clock;
    this.draw = given.draw;
    this.settings = given.settings;
    this.objects = new ObjectTable(journal, () => ({
      founding: { tokenKey: makeTokenKey(), adminToken: given.draw.letters(ADMIN_TOKEN_LETTERS) },
    }));
    this.resources = new Resources(() => this.objects.each(DEFINITIONS));
    this.authorizer = new Authorizer(this.objects);
    this.tokenKey = new TokenKey(this.#founded('tokenKey'));
    this.tokens = new AccountTokens(this.tokenKey, this.objects, given);
    this.#bootstrap();
    this.authenticator = new Authenticator({
      tokens: this.tokens,
      adminToken: this.adminToken,
      clusterUid: () => this.uid,
      clock: given.clock,
    });
  }

  /** The uid of its namespace kube-system. */
  get uid(): string {
    const place = { resource: NAMESPACES, name: 'kube-system' };
    return this.objects.get(place)?.metadata.uid ?? '';
  }

  get adminToken(): string {
    return this.#founded('adminToken');
  }

  #founded(field: 'tokenKey' | 'adminToken'): string {
    const text = textAt(mapAt(this.objects.founding, 'founding'), field);
    if (text === undefined) {
      throw new Error(`the cluster ${this.name} was kept without its ${field}`);
    }
    return text;
  }

  /** Makes what is missing of what every cluster has; a crash may have come between. */
  #bootstrap(): void {
    for (const namespace of [...KEPT_NAMESPACES, 'kube-node-lease']) {
      const bare = this.#object({ apiVersion: 'v1', kind: 'Namespace' }, { name: namespace });
      this.#putMissing(NAMESPACES, NAMESPACE_RULES.begin?.(bare) ?? bare);
    }
    for (const { kind, name, labels, rest } of bootstrapObjects()) {
      const fields = { apiVersion: `${RBAC_GROUP}/v1`, kind, ...rest };
      const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };
      const object = this.#object(fields, { name, labels, annotations });
      this.#putMissing(`${RBAC_GROUP}/${kind.toLowerCase()}s`, object);
    }
  }

  #object(
    fields: JsonObject & Pick<KubeObject, 'apiVersion' | 'kind'>,
    metadata: JsonObject & { readonly name: string },
  ): KubeObject {
    return {
      ...fields,
      metadata: {
        ...metadata,
        uid: this.draw.uuid(),
        resourceVersion: '',
        creationTimestamp: kubeTime(this.clock()),
      },
    };
  }

  #putMissing(resource: string, object: KubeObject): void {
    const { name } = object.metadata;
    if (this.objects.get({ resource, name }) === undefined) this.objects.put(resource, object);
  }
}
