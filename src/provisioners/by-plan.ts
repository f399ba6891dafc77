// Which provisioner makes the runtimes of a plan, and which plans can be offered because theirs is there.
import { BUILT_IN_PLANS } from '../domain/built-in-plans.ts';
import type { Instance } from '../domain/instance.ts';
import type { Plan, ProvisionerName } from '../domain/plan.ts';
import type { Provisioner } from './provisioner.ts';
import { DEPROVISION_SECONDS } from './steps/deprovision-seconds.ts';

export class ProvisionersByPlan {
  readonly #plans: ReadonlyMap<string, Plan>;
  readonly #provisioners: ReadonlyMap<ProvisionerName, Provisioner>;

  constructor(plans: readonly Plan[], provisioners: readonly Provisioner[]) {
    this.#plans = new Map(plans.map((plan) => [plan.id, plan]));
    this.#provisioners = new Map(provisioners.map((each) => [each.name, each]));
  }

  /** The catalog's plans: enabled, and with a provisioner that runs here (docs/configuration.md, "Plans"). */
  offered(): readonly Plan[] {
    return [...this.#plans.values()].filter(
      (plan) => plan.enabled && this.#provisioners.has(plan.provisioner),
    );
  }

  /** Any plan that is configured, offered or not: instances outlive a plan's place in the catalog. */
  plan(planId: string): Plan | undefined {
    return this.#plans.get(planId);
  }

  /** Of an instance, also where its provisioner was switched off: the request to delete it is accepted all the same. */
  deprovisionSecondsOf(named: { readonly provisioner: ProvisionerName }): number {
    return this.#provisioners.get(named.provisioner)?.deprovisionSeconds ?? DEPROVISION_SECONDS;
  }

  /** Whoever keeps the admin access of that instance in memory asks for it anew. */
  forgetAccess(instanceKey: string): void {
    for (const provisioner of this.#provisioners.values()) {
      provisioner.forgetAccess?.(instanceKey);
    }
  }

  /**
   * The plan by which an instance that is there is changed. Where its own has left the configuration, this is the
   * built-in one that its provisioner makes, as for plans of the configuration that say no more.
   */
  planOf(instance: Pick<Instance, 'planId' | 'provisioner'>): Plan {
    const plan =
      this.plan(instance.planId) ??
      BUILT_IN_PLANS.find(({ provisioner }) => provisioner === instance.provisioner);
    if (plan === undefined) {
      throw new Error(`no built-in plan is made by ${instance.provisioner}`);
    }
    return plan;
  }

  /**
   * Of a plan or of an instance, which knows its own even when its plan has left the configuration.
   * @throws Error when it does not run here: an instance whose provisioner was switched off
   */
  provisionerOf(named: { readonly provisioner: ProvisionerName }): Provisioner {
    const provisioner = this.#provisioners.get(named.provisioner);
    if (provisioner === undefined) {
      throw new Error(`the provisioner ${named.provisioner} does not run here`);
    }
    return provisioner;
  }
}
