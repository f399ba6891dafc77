// M: how an instance's operation goes (OSB 2.17, Polling Last Operation for Service Instances).

import { describe, expect, it } from 'vitest';
import { freshId, instancePath, type OpenSubject } from '../subject.ts';

const NOBODY = 'nobody-has-this-instance';

export function lastOperationCases(open: OpenSubject): void {
  describe('the last operation of an instance', () => {
    states(open);
    queries(open);
    endings(open);
  });
}

function states(open: OpenSubject): void {
  it('C111, C112: is told in a word of OSB and a sentence, from the first moment to the end', async () => {
    const subject = open();
    const id = freshId();
    await subject.put(id);
    const path = `${instancePath(id)}/last_operation`;
    const first = await subject.osb.call({ path });
    await subject.settled(id);
    const last = await subject.osb.call({ path });
    await subject.deprovision(id);

    expect(first.status).toBe(200);
    expect(first.body['state']).toBeOneOf(['in progress', 'succeeded']);
    expect(last.body['state']).toBe('succeeded');
    for (const { body } of [first, last]) {
      expect(Object.keys(body)).toEqual(['state', 'description']);
      expect(body['description']).toMatch(/^[A-Z].+\.$/);
    }
  });

  it('C113: is 404 of an instance that never was', async () => {
    const path = `${instancePath(NOBODY)}/last_operation`;

    expect((await open().osb.call({ path })).status).toBe(404);
  });

  it('C113, C114: is remembered after a delete, to whoever asks again', async () => {
    const subject = open();
    const id = await subject.provision();
    await subject.deprovision(id);
    const path = `${instancePath(id)}/last_operation`;
    for (let time = 0; time < 3; time += 1) {
      expect((await subject.osb.call({ path })).body['state']).toBe('succeeded');
    }
    expect((await subject.osb.call({ path: instancePath(id) })).status).toBe(404);
  });

  it('C114, C119: is the same however often it is asked for', async () => {
    const subject = open();
    const path = `${instancePath(await subject.instance())}/last_operation`;
    const answers = new Set<string>();
    for (let time = 0; time < 20; time += 1) {
      const { status, text } = await subject.osb.call({ path });
      answers.add(`${status} ${text}`);
    }

    expect(answers.size).toBe(1);
  });

  it('C118: says when to come back in seconds, where it says it', async () => {
    const subject = open();
    const id = freshId();
    await subject.put(id);
    const { headers } = await subject.osb.call({ path: `${instancePath(id)}/last_operation` });
    await subject.settled(id);
    await subject.deprovision(id);

    expect(headers['retry-after'] ?? '1').toMatch(/^\d+$/);
  });
}

function queries(open: OpenSubject): void {
  it.each([
    ['C115: nothing', ''],
    ['C115: a service and a plan that are not its own', 'service_id=other&plan_id=other'],
    ['C115: a service and a plan that are empty', 'service_id=&plan_id='],
    ['C116: an operation that is not known', 'operation=provision'],
    ['C116: an operation of ten thousand characters', `operation=${'o'.repeat(10_000)}`],
    ['C116: an operation that is not a word', 'operation=%22%00x'.replace('%00', '%01')],
    ['C117: an empty operation', 'operation='],
    ['C117: two operations', 'operation=a&operation=b'],
  ])('%s in the query: the latest operation is told', async (_, query) => {
    const subject = open();
    const path = `${instancePath(await subject.instance())}/last_operation?${query}`;
    const { status, body } = await subject.osb.call({ path });

    expect([status, body['state']]).toEqual([200, 'succeeded']);
  });

  it.each([
    ['a broken percent sequence', '?operation=%zz'],
    ['a NUL', '?operation=%00'],
  ])('C117: %s in the query is 400', async (_, query) => {
    const subject = open();
    const path = `${instancePath(await subject.instance())}/last_operation${query}`;

    expect((await subject.osb.call({ path })).status).toBe(400);
  });

  it('C116: an earlier operation is told by its own outcome', async () => {
    const subject = open();
    const id = freshId();
    const made = await subject.put(id);
    await subject.settled(id);
    const ended = await subject.delete(id);
    await subject.settled(id);
    const told = async (operation: unknown) => {
      const path = `${instancePath(id)}/last_operation?operation=${String(operation)}`;
      return (await subject.osb.call({ path })).text;
    };

    expect(await told(made.body['operation'])).not.toBe(await told(ended.body['operation']));
    expect(await told('another')).toBe(await told(ended.body['operation']));
  });
}

function endings(open: OpenSubject): void {
  it('C120: of a provisioning that the platform has given up is told beside the delete', async () => {
    const subject = open();
    const id = freshId();
    const made = await subject.put(id);
    const ended = await subject.delete(id);
    const { state } = await subject.settled(id);
    const path = `${instancePath(id)}/last_operation?operation=${String(made.body['operation'])}`;
    const old = await subject.osb.call({ path });

    expect([made.status, ended.status, state]).toEqual([202, 202, 'succeeded']);
    expect(old.status).toBe(200);
    expect(old.body['state']).toBeOneOf(['failed', 'succeeded']);
    expect((await subject.osb.call({ path: instancePath(id) })).status).toBe(404);
    expect((await subject.delete(id)).status).toBe(410);
  });
}

/** For brokers that are the suite's own: nobody else's is killed. */
export function restartCases(open: OpenSubject): void {
  describe('a broker that was killed and started anew', () => {
    it('C76, C119: has forgotten nothing, and ends what it had begun', async () => {
      const subject = open();
      const ready = await subject.instance();
      const binding = freshId();
      const bound = await subject.bind(ready, binding);
      const begun = freshId();
      const accepted = await subject.put(begun);
      await subject.restart?.();
      const look = (path: string) => subject.osb.call({ path });
      const poll = await look(`${instancePath(ready)}/last_operation`);
      const again = await subject.bind(ready, binding);
      const { state } = await subject.settled(begun);
      await subject.deprovision(begun);
      await subject.unbind(ready, binding);

      expect([accepted.status, state]).toEqual([202, 'succeeded']);
      expect(poll.body['state']).toBe('succeeded');
      expect([again.status, again.body]).toEqual([200, bound.body]);
    });
  });
}
