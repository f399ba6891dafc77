// `npm run check`: everything that can be known without running the product. All parts run, whatever the others say,
// so that one run shows everything there is to repair. What each part demands is in its own configuration file.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';

interface Part {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What repairs it without thought, where there is such a thing. */
  readonly remedy?: string;
}

/** The slowest first, so that the last one to end is a short one. */
const PARTS: readonly Part[] = [
  { name: 'lint', command: 'oxlint', args: [] },
  { name: 'types', command: 'tsc', args: ['--noEmit', '--project', '.'] },
  { name: 'dead code', command: 'knip', args: [] },
  { name: 'layers and cycles', command: 'depcruise', args: ['--output-type', 'err', '.'] },
  {
    name: 'format',
    command: 'biome',
    args: ['format', '--reporter=summary'],
    remedy: 'npm run format',
  },
];

/** npm puts node_modules/.bin first on the PATH of its scripts, so the commands are found, and run on our Node. */
async function run({ command, args }: Part): Promise<{ passed: boolean; output: string }> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { passed: child.exitCode === 0, output: `${stdout}${stderr}`.trim() };
  } catch (error) {
    return { passed: false, output: `${command} does not start: ${String(error)}` };
  }
}

async function runAndTell(part: Part): Promise<void> {
  const startedAt = performance.now();
  const { passed, output } = await run(part);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (!passed) {
    process.exitCode = 1;
    console.log(`\n${output}\n`);
  }
  const remedy = passed || part.remedy === undefined ? '' : `; to repair it: ${part.remedy}`;
  console.log(
    `${passed ? 'ok    ' : 'FAILED'} ${part.name} (${part.command}, ${seconds} s)${remedy}`,
  );
}

const waiting = [...PARTS];
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      await runAndTell(part);
    }
  }),
);
