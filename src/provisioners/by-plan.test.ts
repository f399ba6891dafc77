import { expect, it } from 'vitest';

import { BUILT_IN_PLANS } from '../domain/built-in-plans.ts';
import { AddressGuard } from '../kubernetes/address-guard.ts';
import { OpenClusters } from '../kubernetes/open-clusters.ts';
import { ProvisionersByPlan } from './by-plan.ts';
import { ownClusterProvisioner } from './own-cluster/own-cluster.ts';

const AWS = '361c511f-f939-4621-b228-d0fb79a1fe15';
const OWN_CLUSTER = '03e3cb66-a4c6-4c6a-b4b0-5d42224debea';
const guard = new AddressGuard({
  law: { allow: [], deny: [], allowsLoopback: false },
  ownEndpoints: () => [],
  localAddresses: () => [],
  resolve: () => Promise.resolve([]),
});
const ownCluster = ownClusterProvisioner({
  clusters: new OpenClusters({ retireAfterMs: 0 }),
  guard,
});

it('offers the plans whose provisioner runs here', () => {
  const provisioners = new ProvisionersByPlan(BUILT_IN_PLANS, [ownCluster]);
  expect(provisioners.offered().map(({ name }) => name)).toEqual(['own_cluster']);
  expect(provisioners.provisionerOf({ provisioner: 'own-cluster' })).toBe(ownCluster);
});

it('does not offer a plan that is switched off, and still serves its instances', () => {
  const plans = BUILT_IN_PLANS.map((plan) => ({ ...plan, enabled: plan.name !== 'own_cluster' }));
  const provisioners = new ProvisionersByPlan(plans, [ownCluster]);
  expect(provisioners.offered()).toEqual([]);
  expect(provisioners.plan(OWN_CLUSTER)?.name).toBe('own_cluster');
  expect(provisioners.provisionerOf({ provisioner: 'own-cluster' })).toBe(ownCluster);
});

it('knows a plan without a provisioner, and says that nothing runs for it', () => {
  const provisioners = new ProvisionersByPlan(BUILT_IN_PLANS, [ownCluster]);
  expect(provisioners.plan(AWS)?.name).toBe('aws');
  expect(() => provisioners.provisionerOf({ provisioner: 'kyma' })).toThrow('kyma');
});

it('changes an instance by its plan, and by the built-in one where that has left the configuration', () => {
  const farm = { ...planNamed('own_cluster'), id: 'farm', namespace: 'farm' };
  const instance = { planId: 'farm', provisioner: 'own-cluster' } as const;
  const before = new ProvisionersByPlan([...BUILT_IN_PLANS, farm], [ownCluster]);
  const after = new ProvisionersByPlan(BUILT_IN_PLANS, [ownCluster]);
  expect(before.planOf(instance).namespace).toBe('farm');
  expect(after.planOf(instance).name).toBe('own_cluster');
});

function planNamed(wanted: string) {
  const plan = BUILT_IN_PLANS.find(({ name }) => name === wanted);
  if (plan === undefined) throw new Error(`no plan ${wanted}`);
  return plan;
}
