// What an installation says once for all its Kyma runtimes: whose cloud accounts they run in, and what is installed in
// one for which nothing was asked. What differs from runtime to runtime is KymaSettings.
import type { KymaProvider } from './kyma-settings.ts';

export interface KymaModule {
  readonly name: string;
  /** That of the installation unless said. */
  readonly channel?: string;
}

export interface KymaInstallation {
  /** By provider: the name of what binds a Shoot to the credentials of a cloud account, in the Gardener project. */
  readonly secretBindings: Readonly<Record<KymaProvider, string>>;
  /** Which releases of modules are installed. */
  readonly channel: string;
  /** Where a request asks for none in particular. */
  readonly modules: readonly KymaModule[];
  /** How often the control plane is asked about what is being made or removed there. */
  readonly pollSeconds: number;
}
