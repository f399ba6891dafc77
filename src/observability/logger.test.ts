import { describe, expect, it } from 'vitest';

import { Secret } from '../domain/secret.ts';
import { bindingIssued, revocationPostponed } from './events.ts';
import { createLogger, type LogSettings } from './logger.ts';

function logTo(lines: string[], settings: Partial<LogSettings> = {}) {
  const sink = { write: (line: string) => void lines.push(line) };
  return createLogger({ level: 'info', format: 'json', ...settings }, sink);
}

describe('the log', () => {
  it('writes one JSON object a line, with a level in words and a time in UTC', () => {
    const lines: string[] = [];
    logTo(lines).info({ surface: 'public' }, 'listening');

    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
      surface: 'public',
      msg: 'listening',
    });
  });

  it('leaves out what is below its level', () => {
    const lines: string[] = [];
    logTo(lines, { level: 'warn' }).info('quiet');

    expect(lines).toEqual([]);
  });

  it.each(['json', 'pretty'] as const)('shows no secret, wherever it hides (%s)', (format) => {
    const lines: string[] = [];
    const log = logTo(lines, { format });
    const secret = new Secret('hunter2');
    log.info({ secret, nested: { list: [secret] } }, 'text %s and %j', secret, { secret });
    log.child({ secret }).error({ err: new Error('outer', { cause: secret }) }, 'failed');
    log.error(Object.assign(new Error('driver'), { config: { password: 'hunter2' } }));

    expect(lines).toHaveLength(3);
    expect(lines.join('\n')).not.toContain('hunter2');
    expect(lines.join('\n')).toContain('[secret]');
  });

  it('is readable on a terminal, one line a fact', () => {
    const lines: string[] = [];
    logTo(lines, { format: 'pretty' }).warn({ bindingId: 'b-1' }, 'a thing');

    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: a thing \{"bindingId":"b-1"\}\n$/);
  });

  it('lets no value of a caller begin a line of its own', () => {
    const lines: string[] = [];
    const log = logTo(lines, { format: 'pretty' });
    log.info({ instanceId: 'x\n[00:00:00.000] INFO: forged' }, 'request');

    expect(lines.join('').trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('an event', () => {
  it('is a line with the words that searches rest on', () => {
    const lines: string[] = [];
    const binding = { instanceId: 'i-1', bindingId: 'b-1', grant: 'kyma-binding-b-1-0000000000' };
    const at = new Date('2030-01-01T00:00:00Z');
    const log = logTo(lines);
    const issued = { createdBy: 'ci', tokenId: 'jti-1', expiresAt: at, durationMs: 12 };
    bindingIssued(log, { ...binding, ...issued });
    revocationPostponed(log, { ...binding, cause: 'unreachable', tries: 2, nextTryAt: at });

    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      {
        level: 'info',
        event: 'binding-issued',
        ...binding,
        expiresAt: '2030-01-01T00:00:00.000Z',
        durationMs: 12,
      },
      { level: 'warn', event: 'revocation-postponed', cause: 'unreachable', tries: 2 },
    ]);
  });
});
