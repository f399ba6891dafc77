// What a configured broker knows when it starts. Everything is checked before it gets here, and frozen: nothing can be
// half configured, and nobody can change it afterwards. How it was written down is read-config.ts's business.
import type { AddressRules } from '../domain/address-pattern.ts';
import type { KymaInstallation } from '../domain/kyma-installation.ts';
import type { Plan } from '../domain/plan.ts';
import type { Secret } from '../domain/secret.ts';

export interface ListenAddress {
  /** Name or address, an IPv6 one without its brackets. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
}

/** One PostgreSQL for any number of replicas, or a database in a folder that belongs to one process. */
export type DatabaseSetting =
  /** Secret as a whole, since it may hold a password. */
  | { readonly kind: 'postgres'; readonly url: Secret }
  | { readonly kind: 'embedded'; readonly dataFolder: string };

/** How platforms prove who they are on the OSB routes. */
export type PlatformAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'basic'; readonly username: string; readonly password: Secret };

/** How operators prove who they are on their listener. */
export type OperatorAuth =
  /** Nobody is known: what needs credentials answers 401 to all. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'basic'; readonly username: string; readonly password: Secret };

export interface SealingKey {
  /** Stored beside each sealed value, so that keys can be rotated. */
  readonly id: string;
  /** 32 bytes: AES-256. */
  readonly key: Secret<Uint8Array>;
}

/** Where Kyma runtimes are made (KCP). */
export interface ControlPlaneSetting {
  /** Its text, which the reader of kubeconfigs has accepted. */
  readonly kubeconfig: Secret;
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const LOG_FORMATS = ['json', 'pretty'] as const;

export interface Config {
  readonly publicListen: ListenAddress;
  readonly operatorListen: ListenAddress;
  readonly database: DatabaseSetting;
  readonly platformAuth: PlatformAuth;
  readonly operatorAuth: OperatorAuth;
  /** The first one seals; all of them open. */
  readonly sealingKeys: readonly [SealingKey, ...SealingKey[]];
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** Undefined: pretty on a terminal, else JSON. */
  readonly logFormat: (typeof LOG_FORMATS)[number] | undefined;
  /** Region of platforms that name none in their URL. */
  readonly defaultRegion: string;
  readonly createTimeoutSeconds: number;
  /** Undefined: no plan of the provisioner `kyma` is offered. */
  readonly controlPlane: ControlPlaneSetting | undefined;
  readonly kyma: KymaInstallation;
  /** What operators allow and deny beyond the rules for addresses of own clusters. */
  readonly clusterAddresses: AddressRules;
  /** The built-in ones as changed by the file, then those the file adds; disabled ones included. */
  readonly plans: readonly Plan[];
}
