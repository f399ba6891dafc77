// The queue loses its jobs while operations wait for their next try: the pass over open operations finds them, since
// their rows are the truth and a job only wakes (docs/decisions/pg-boss-only-wakes.md).
import { expect, it } from 'vitest';
import { openClusterProxy } from '../../support/cluster-proxy.ts';
import { describeWith } from '../../support/needs.ts';
import { until } from '../../support/until.ts';
import { openScene } from '../../integration/bindings/scene.ts';
import { operationEnded, PATIENT_TEST_MS } from '../../integration/instances/waits.ts';

describeWith({ postgres: true, cluster: true }, 'an operation whose job was lost', () => {
  it(
    'goes on without one',
    async () => {
      const scene = await openScene();
      const proxy = await openClusterProxy(scene.cluster);
      const { platform, ledger, broker } = scene;
      try {
        await proxy.takeDown();
        const ids = { instance: 'lost' };
        await platform.provision(ids, proxy.adminKubeconfig);
        await until({
          what: 'the operation waits for its next try',
          limitMs: 20_000,
          isSo: () => broker.log().some(({ event }) => event === 'operation-postponed'),
        });
        const lost = await ledger.sql(
          "delete from pgboss.job where data ->> 'operationId' is not null returning id",
        );
        expect(lost).not.toEqual([]);
        await proxy.bringUp();

        expect(await operationEnded(platform, ids)).toBe('succeeded');
        expect(broker.log()).toContainEqual(
          expect.objectContaining({ msg: 'operations without a runner woken' }),
        );
      } finally {
        await scene.close();
        await proxy.stop();
      }
    },
    PATIENT_TEST_MS,
  );
});
