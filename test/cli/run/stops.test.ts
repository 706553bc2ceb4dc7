/** How a run ends: by signals at any moment, after its time, beside what an earlier one left, and without its secrets in what it wrote. */
import { afterAll, describe, expect, test } from 'vitest';
import { openExchange } from '../embeddedExchange.ts';
import { Bench, puntas, ran } from '../program.ts';
import { BOTH_SIDES, expectClean } from './cleanEnd.ts';
import { freePort } from '../../freePort.ts';

const bench = new Bench();
afterAll(() => bench.clear());

describe.concurrent('puntas run', () => {
  test('starts afresh on an embedded exchange at the address of an earlier one: what that one knew is gone', async () => {
    const port = await freePort();
    const file = bench.config('sandbox', text => text.replace('seed: 5', `seed: 5\n  port: ${port}`));
    for (const which of ['first', 'second']) {
      const program = puntas(['run', '-c', file, '--json']);
      await program.sees(BOTH_SIDES);
      program.signal('SIGTERM');
      expect(expectClean(await program.ended).orders.placed, which).toBeGreaterThanOrEqual(6);
    }
  });

  test('ends by itself after --for, and without --json says what came of it in a few lines for a person', async () => {
    const ended = await ran(['run', '-c', bench.config(), '--for', '4s']);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/verified: no open orders left\nthe ledger equals the balances to the last digit\n$/);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('stops cleanly on %s', async signal => {
    const program = puntas(['run', '-c', bench.config(), '--json']);
    await program.sees(/bid \d+ .*ask \d+/);
    program.signal(signal);
    const ended = await program.ended;
    expectClean(ended);
    expect(ended.stderr).toContain(`stopping (${signal})`);
  });

  test.each([0, 100, 300, 600])('stops cleanly when SIGTERM comes during the start, %i ms in', async delay => {
    const program = puntas(['run', '-c', bench.config(), '--json']);
    // Node itself needs some time before any program can listen to a signal.
    await program.sees(/embedded exchange at/);
    await new Promise(resolve => setTimeout(resolve, delay));
    program.signal('SIGTERM');
    expectClean(await program.ended);
  });

  test('takes its secrets out of what it writes, at the most talkative level', async () => {
    const { url, keys, close } = await openExchange(bench.config());
    const file = bench.config(
      'live',
      text => text.replace('https://api.bitso.com', url).replace(/^ *streamUrl:.*\n/m, '') + 'log: { level: debug }\n',
    );
    const ended = await ran(['run', '-c', file, '--for', '4s', '--json'], keys);
    expect((await close()).code).toBe(0);
    expectClean(ended);
    expect(ended.stderr + ended.stdout).not.toContain(keys.PUNTAS_API_SECRET);
  });
});
