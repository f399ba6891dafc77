// How the demo tells what it does: a line for each step with the time that it took, and below it what was sent and
// what came back. What the steps are is told by others.

import { styleText } from 'node:util';
import { DemoFailure } from './demo-failure.ts';

type Style = Parameters<typeof styleText>[0];

export interface Screen {
  write(text: string): void;
  /** A person looks at it: the step that runs is shown, and its line is written anew when it ends. */
  readonly isTerminal: boolean;
  readonly hasColours: boolean;
  /** Undefined where nobody breaks lines. */
  readonly columns: number | undefined;
}

/** Times stand in one column; with it and the margin a line fits a terminal of 80. */
const TITLE_WIDTH = 64;
const TIME_WIDTH = 8;
/** Longer lines are hard to read on any screen, and shorter ones break every command. */
const MAX_DETAIL_WIDTH = 110;
const MIN_DETAIL_WIDTH = 60;

const STEP_MARGIN = '  ';
const DETAIL_MARGIN = '      ';

/** Back to the start of the line, and all of it erased. */
const ERASE_LINE = '\r\u001b[2K';

/** Marks a detail as what was sent; what came back has no mark. */
const SENT = '$ ';

/** Begins the further lines of a command. */
const CONTINUED = '    ';

export function sent(command: string): string {
  return `${SENT}${command}`;
}

export class Narration {
  readonly #screen: Screen;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  heading(text: string): void {
    this.#line(`\n${this.#styled('bold', text)}`);
  }

  /** As it is, for commands to copy and texts with a layout of their own. */
  plain(text: string): void {
    this.#line(text);
  }

  async step<T>(title: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    if (this.#screen.isTerminal) {
      this.#screen.write(`${STEP_MARGIN}${this.#styled('dim', `· ${title} …`)}`);
    }
    try {
      const result = await work();
      this.#endStep(this.#styled('green', '✓'), title, startedAt);
      return result;
    } catch (error) {
      this.#endStep(this.#styled('red', '✗'), title, startedAt);
      throw error;
    }
  }

  /** Below the step: `sent` marks what was sent, the rest is what came back. */
  details(lines: readonly string[]): void {
    for (const text of lines) {
      const style = text.startsWith(SENT) ? 'cyan' : 'dim';
      for (const line of wrapped(text, this.#detailWidth())) {
        this.#line(`${DETAIL_MARGIN}${this.#styled(style, line)}`);
      }
    }
  }

  /** A command to try, on a line of its own however long it is: broken ones are hard to copy. */
  suggestion(title: string, commands: readonly string[]): void {
    this.#line(title);
    for (const command of commands) this.#line(`   ${this.#styled('cyan', command)}`);
  }

  failure(error: unknown): void {
    if (!(error instanceof DemoFailure)) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#line(`\n${this.#styled('red', 'The demo has a fault of its own:')}\n${text}`);
      return;
    }
    this.#line(`\n${this.#styled('red', error.message)}`);
    for (const hint of error.hints) this.#line(hint);
  }

  #detailWidth(): number {
    const { columns = MAX_DETAIL_WIDTH } = this.#screen;
    return Math.min(MAX_DETAIL_WIDTH, Math.max(MIN_DETAIL_WIDTH, columns - DETAIL_MARGIN.length));
  }

  #endStep(sign: string, title: string, startedAt: number): void {
    const took = duration(performance.now() - startedAt).padStart(TIME_WIDTH);
    const erase = this.#screen.isTerminal ? ERASE_LINE : '';
    const padded = title.padEnd(TITLE_WIDTH);
    this.#line(`${erase}${STEP_MARGIN}${sign} ${padded}${this.#styled('dim', took)}`);
  }

  #styled(style: Style, text: string): string {
    // The screen has decided already.
    return this.#screen.hasColours ? styleText(style, text, { validateStream: false }) : text;
  }

  #line(text: string): void {
    this.#screen.write(`${text}\n`);
  }
}

/** For people: `45 ms`, `3.1 s`, `75 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 1_000)} s`;
}

/** Broken between words; a command in the way in which a shell reads it as one. */
function wrapped(text: string, width: number): readonly string[] {
  const isSent = text.startsWith(SENT);
  // A command's line also ends in a backslash.
  const room = isSent ? width - 2 : width;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(isSent ? `${line} \\` : line);
      line = isSent ? `${CONTINUED}${word}` : word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
