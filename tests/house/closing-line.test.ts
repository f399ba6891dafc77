// The closing line is what a program reads of a run: its counts, and that nothing comes after it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { closingLine, EMPTY_TALLY, tally } from '../support/closing-line.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');

describe('the tally of a run', () => {
  it('counts what never ran as skipped', () => {
    const files = [
      { testStates: ['passed', 'failed', 'skipped'], errorCount: 0 },
      { testStates: ['passed', 'pending'], errorCount: 0 },
    ];
    expect(tally(files, 0)).toEqual({ passed: 2, failed: 1, skipped: 2 });
  });

  it('counts a file that does not load, a hook that throws and an unhandled error as failed', () => {
    const files = [
      { testStates: [], errorCount: 1 },
      { testStates: ['skipped', 'skipped'], errorCount: 1 },
    ];
    expect(tally(files, 1)).toEqual({ passed: 0, failed: 3, skipped: 2 });
  });
});

describe('the closing line', () => {
  it('says the three numbers', () => {
    expect(closingLine({ passed: 12, failed: 0, skipped: 3 }, 0)).toBe(
      '12 passed, 0 failed, 3 skipped',
    );
  });

  it('has one failed when the run failed without a failed test', () => {
    expect(closingLine(EMPTY_TALLY, 1)).toBe('0 passed, 1 failed, 0 skipped');
  });

  it('adds nothing where failures were counted', () => {
    expect(closingLine({ passed: 1, failed: 2, skipped: 0 }, 1)).toBe(
      '1 passed, 2 failed, 0 skipped',
    );
  });
});

describe('a run of vitest with the closing line', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'closing-line-'));
    await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('ends with it, after what a global teardown prints', async () => {
    await writeTests({
      'mixed.test.mjs': `
        import { describe, it } from 'vitest';
        it('passes', () => {});
        it('fails', () => { throw new Error('on purpose'); });
        it.skip('is skipped', () => {});
        it.todo('is to be written');
        describe('a suite', () => { it('passes in a suite', () => {}); });`,
      'hook.test.mjs': `
        import { beforeAll, describe, it } from 'vitest';
        describe('a suite', () => {
          beforeAll(() => { throw new Error('on purpose'); });
          it('does not get its turn', () => {});
        });`,
      'broken.test.mjs': `import './not-there.mjs';`,
      'unhandled.test.mjs': `
        import { it } from 'vitest';
        it('leaves a rejection behind', () => { Promise.reject(new Error('on purpose')); });`,
      'global.mjs': `export const teardown = () => console.log('torn down');`,
    });
    const { exitCode, stdout } = await runVitest();
    expect(stdout).toContain('torn down');
    expect(stdout).toMatch(/\n3 passed, 4 failed, 3 skipped\n$/u);
    expect(exitCode).toBe(1);
  });

  it('ends with zero failed and exit status 0 where all is well', async () => {
    await writeTests({
      'good.test.mjs': `import { it } from 'vitest'; it('passes', () => {});`,
      'global.mjs': 'export const setup = () => {};',
    });
    const { exitCode, stdout } = await runVitest();
    expect(stdout).toMatch(/\n1 passed, 0 failed, 0 skipped\n$/u);
    expect(exitCode).toBe(0);
  });

  it('has one failed where the global setup throws and no test runs', async () => {
    await writeTests({
      'good.test.mjs': `import { it } from 'vitest'; it('passes', () => {});`,
      'global.mjs': `export const setup = () => { throw new Error('a part is missing'); };`,
    });
    const { exitCode, stdout } = await runVitest();
    expect(stdout).toMatch(/\n0 passed, 1 failed, 0 skipped\n$/u);
    expect(exitCode).toBe(1);
  });

  async function writeTests(files: Record<string, string>): Promise<void> {
    const config = `
      import { ClosingLine } from '${join(REPOSITORY, 'tests/support/closing-line.ts')}';
      export default {
        test: {
          include: ['*.test.mjs'],
          globalSetup: './global.mjs',
          reporters: ['default', new ClosingLine()],
        },
      };`;
    for (const [file, code] of Object.entries({ ...files, 'vitest.config.mjs': config })) {
      await writeFile(join(folder, file), code);
    }
  }

  async function runVitest(): Promise<{ exitCode: number | null; stdout: string }> {
    const vitest = join(REPOSITORY, 'node_modules/vitest/vitest.mjs');
    // Without what the outer run told its workers about itself.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS|VITE_)/u.test(name)),
    );
    const child = spawn(process.execPath, [vitest, 'run'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [stdout] = await Promise.all([text(child.stdout), once(child, 'close')]);
    return { exitCode: child.exitCode, stdout };
  }
});
