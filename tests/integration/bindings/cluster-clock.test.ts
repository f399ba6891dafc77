// A cluster whose clock is another one than the broker's: a credential that is not valid yet for everybody else, or
// over already, is not handed out, and nothing of it is left.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeOnClusters } from '../../support/clusters-under-test.ts';
import { startTestSandbox, type TestSandbox } from '../../support/sandbox.ts';
import { expectErrorBody } from './refusals.ts';
import { newId, openScene, type Scene } from './scene.ts';

const TOLD =
  'No credential of the cluster can be handed out: its clock differs too much from the broker’s.';

/** By which our clock is ahead of the cluster's, in seconds, and what the event says of the cluster. */
const REFUSED = [
  { aheadSeconds: 63, told: 'behind' },
  { aheadSeconds: 86_400, told: 'behind' },
  { aheadSeconds: -62, told: 'ahead' },
] as const;

describeOnClusters('a cluster with another clock', (open) => {
  let scene: Scene;
  let aheadSeconds = 0;

  beforeAll(async () => {
    const clusterClock = () => new Date(Date.now() + aheadSeconds * 1000);
    scene = await openScene({ engine: 'embedded', cluster: open(), clusterClock });
  });
  afterAll(() => scene.close());

  const differences = (binding: string) =>
    scene.broker
      .log()
      .filter(({ event, bindingId }) => event === 'cluster-clock-differs' && bindingId === binding)
      .map(({ differenceSeconds }) => Number(differenceSeconds));

  it.each(REFUSED)('is refused when it is $told: 502, and nothing is left', async (refused) => {
    const ids = { instance: await scene.attach(), binding: newId('clock') };
    aheadSeconds = refused.aheadSeconds;
    const answer = await scene.platform.bind(ids);
    expect(answer).toMatchObject({ status: 502, body: { description: TOLD } });
    expectErrorBody(answer);
    expect(await scene.objects(ids.binding)).toEqual([]);
    expect(await scene.platform.bindingOperation(ids)).toMatchObject({ body: { state: 'failed' } });

    const [difference = 0, ...more] = differences(ids.binding);
    expect(more).toEqual([]);
    // What it is ahead by is our being behind, but for the time of the call and the second it was rounded to.
    expect(Math.abs(difference + refused.aheadSeconds)).toBeLessThan(3);

    aheadSeconds = 0;
    const again = await scene.platform.bind(ids);
    expect(again.status).toBe(201);
    expect(again.headers.get('x-runtime-broker-bindings-remaining')).toBe('9');
  });

  it.each([50, -50])('is served within the minute: %i s', async (withinSeconds) => {
    const ids = { instance: await scene.attach(), binding: newId('near') };
    aheadSeconds = withinSeconds;
    expect((await scene.platform.bind(ids)).status).toBe(201);
    expect(differences(ids.binding)).toEqual([]);
  });
});

describe('a cluster that really lives in another time', () => {
  let sandbox: TestSandbox;
  let scene: Scene;

  beforeAll(async () => {
    sandbox = await startTestSandbox({ clock: () => new Date(Date.now() + 3_600_000) });
    scene = await openScene({ engine: 'embedded', cluster: sandbox.openCluster('ahead') });
  });
  afterAll(async () => {
    await scene.close();
    await sandbox.stop();
  });

  it('is attached, and its tokens are refused', async () => {
    const ids = { instance: await scene.attach(), binding: newId('ahead') };
    expect(await scene.platform.bind(ids)).toMatchObject({
      status: 502,
      body: { description: TOLD },
    });
    expect(await scene.objects(ids.binding)).toEqual([]);
  });
});
