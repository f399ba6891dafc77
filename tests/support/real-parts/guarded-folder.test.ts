// That nothing keeps running and nothing keeps lying about when a test process ends, however it ends.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { until } from '../until.ts';

const HERE = import.meta.url;

/** Starts a process that never ends by itself, tells its id and the folder, and waits. */
const TEST_PROCESS = `
  import { openGuardedFolder } from '${new URL('./guarded-folder.ts', HERE).href}';
  import { startProcess } from '${new URL('./started-process.ts', HERE).href}';
  const folder = openGuardedFolder('test');
  const started = startProcess({
    name: 'endless', command: '/bin/sh', args: ['-c', 'echo $$; while :; do sleep 1; done'],
    folder, endSignal: 'SIGKILL',
  });
  const tell = setInterval(() => {
    const pid = Number(started.logTail());
    if (pid === 0) return;
    clearInterval(tell);
    process.stdout.write(JSON.stringify({ pid, path: folder.path }));
    process.stdin.resume().on('end', () => process.exit(0));
  }, 5);
`;

it.each([
  ['returns without ending them', (child: ReturnType<typeof spawn>) => child.stdin?.end()],
  ['gets SIGTERM', (child: ReturnType<typeof spawn>) => child.kill('SIGTERM')],
  ['gets SIGKILL', (child: ReturnType<typeof spawn>) => child.kill('SIGKILL')],
])('processes and folder are gone after the process that opened it %s', async (_, end) => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', TEST_PROCESS]);
  const [told] = (await once(child.stdout, 'data')) as [Buffer];
  const { pid, path } = JSON.parse(told.toString()) as { pid: number; path: string };
  expect(existsSync(path)).toBe(true);
  end(child);
  await until({ what: 'the folder is gone', limitMs: 15_000, isSo: () => !existsSync(path) });
  await until({ what: 'the process is gone', limitMs: 15_000, isSo: () => !lives(pid) });
});

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
