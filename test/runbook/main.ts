/** The thirteen situations of docs/runbook.md, each on real processes: what one sees, what one types, and what one sees then. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pause, within } from '../chaos/programs.ts';
import { PATIENCE_MS, QUOTING, SHOWN, Stage } from './stage.ts';

const RESUMED = 'looked at the exchange, all is explained';

describe.concurrent('on one exchange, each with an account of its own', () => {
  const stage = new Stage();
  beforeAll(async () => {
    await stage.openExchange();
    await stage.operator('PATCH', 'books/btc_mxn', { maker: '0.001', taker: '0.0015' });
    // The document has balances change before a list shows why. They are compared every ten seconds, and differ for ten before anything is done.
    await stage.operator('PATCH', 'switches', { transferListDelayMs: 60_000 });
  });
  afterAll(() => stage.close());

  test('halt', async () => {
    const bot = await stage.quoting(await stage.account());
    const halted = await stage.types(['halt', '-c', bot.file, '--reason', 'looks wrong to me']);
    expect(halted.text).toContain('halted: ');
    await bot.hears(/not quoting: halted/);
    expect(readFileSync(join(bot.state, 'HALTED'), 'utf8')).toContain('looks wrong to me');
    const since = bot.heard;
    const resumed = await stage.types(['resume', '-c', bot.file, '--reason', RESUMED]);
    expect([resumed.code, resumed.text]).toEqual([0, expect.stringMatching(/lifted/)]);
    await bot.hears(QUOTING, since);
    expect((await stage.types(['resume', '-c', bot.file, '--reason', RESUMED])).code).toBe(2);
    expect((await stage.stops(bot)).code).toBe(0);
  });

  test('paused and forgotten', async () => {
    const bot = await stage.quoting(await stage.account());
    await stage.types(['pause', '-c', bot.file, '--reason', 'a look at the feed', '--by', 'ann', '--for', '2h']);
    await bot.hears(/not quoting: paused by a person/);
    const status = await stage.types(['status', '-c', bot.file]);
    expect(status.text).toMatch(/held by +pause by ann since .* until [\s\S]*: a look at the feed/);
    const since = bot.heard;
    const resumed = await stage.types(['resume', '-c', bot.file, '--reason', RESUMED]);
    expect([resumed.code, resumed.text]).toEqual([0, expect.stringMatching(/^the pause has ended/)]);
    await bot.hears(QUOTING, since);
    expect((await stage.stops(bot)).code).toBe(0);
  });

  test('position beyond its limit', async () => {
    const account = await stage.account();
    const bot = await stage.quoting(account, { inventory: { target: '1.5' } });
    await stage.operator('POST', 'deposits', { account: account.id, asset: 'btc', amount: '0.3' });
    await bot.hears(/halted: position: [\d.]+ btc from the target is beyond its limit/);
    const since = bot.heard;
    const resumed = await stage.types(['resume', '-c', bot.file, '--reason', RESUMED]);
    expect(resumed.code).toBe(0);
    await bot.hears(/reduce only/, since);
    // What is recorded is on disk once a second.
    const explained = () => stage.types(['explain', '-c', bot.file]);
    const isShown = async () => /regime: reduce only/.test((await explained()).text);
    expect(await within(PATIENCE_MS, isShown), (await explained()).text).toBe(true);
    await stage.stops(bot);
  });

  test('deposit', async () => {
    const account = await stage.account();
    const bot = await stage.quoting(account);
    await stage.operator('POST', 'deposits', { account: account.id, asset: 'mxn', amount: '50000' });
    await bot.hears(/booked under deposits: 50000 mxn .* not counted as profit/);
    const isBooked = async () => {
      const { text } = await stage.types(['ledger', '-c', bot.file, '--currency', 'mxn']);
      // A trade that is just recorded differs for a moment.
      return /^deposits +50000/m.test(text) && /^difference +0\.?0*$/m.test(text);
    };
    expect(await within(PATIENCE_MS, isBooked)).toBe(true);
    expect((await stage.stops(bot)).code).toBe(0);
  });

  test('withdrawal', async () => {
    const account = await stage.account();
    const bot = await stage.quoting(account);
    await stage.operator('POST', 'withdrawals', { account: account.id, asset: 'mxn', amount: '20000' });
    await bot.hears(/not quoting: ledger differs from the balances/);
    await bot.hears(/booked under withdrawals: -20000 mxn/);
    await bot.hears(QUOTING);
    expect(bot.run.stderr()).not.toContain('halted');
    const settled = await within(PATIENCE_MS, async () =>
      /^difference +0\.?0*$/m.test((await stage.types(['ledger', '-c', bot.file, '--currency', 'mxn'])).text),
    );
    expect(settled).toBe(true);
    expect((await stage.stops(bot)).code).toBe(0);
  });

  test('crash', async () => {
    const account = await stage.account();
    const bot = await stage.quoting(account);
    bot.run.signal('SIGKILL');
    await bot.run.ended;
    const left = await stage.liveOrdersOf(account);
    expect(left.length).toBeGreaterThan(0);
    const again = stage.run(bot, account);
    await again.hears(SHOWN);
    expect((await stage.liveOrdersOf(account)).filter(id => left.includes(id))).toEqual([]);
    expect((await stage.stops(again)).code).toBe(0);
    expect(again.run.stdout()).toMatch(
      /verified: no open orders left\nthe ledger equals the balances to the last digit/,
    );
  });

  test('expired key', async () => {
    const account = await stage.account();
    const bot = await stage.quoting(account);
    const next = (await stage.operator('POST', `accounts/${account.id}/keys`)) as unknown as typeof account;
    await stage.operator('DELETE', `accounts/${account.id}/keys/${account.key}`);
    // A minute of nothing else, and it ends by itself: one refusal may be a nonce.
    await bot.hears(/halted: .*0201.*a new key of the same account works after a restart/);
    expect((await bot.run.ended).code).toBe(3);
    const since = stage.run(bot, next);
    await since.hears(/not quoting: halted/);
    const resumed = await stage.types(['resume', '-c', bot.file, '--reason', RESUMED]);
    expect(resumed.code).toBe(0);
    await since.hears(QUOTING);
    expect((await stage.stops(since)).code).toBe(0);
  });

  test('full disk', async () => {
    const account = await stage.account();
    const config = stage.config();
    mkdirSync(config.state, { recursive: true, mode: 0o700 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=0700', 'tmpfs', config.state]);
    try {
      const bot = stage.run(config, account);
      await bot.hears(QUOTING);
      const filler = join(config.state, 'filler');
      expect(() => {
        for (let size = 1 << 20; size > 0; size >>= 1)
          for (;;)
            try {
              writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
            } catch (error) {
              if (size === 1) throw error;
              break;
            }
      }).toThrow(/ENOSPC/);
      await bot.hears(/cannot be written to disk/);
      const since = bot.heard;
      rmSync(filler);
      await bot.hears(SHOWN, since);
      expect((await stage.stops(bot)).code).toBe(0);
    } finally {
      execFileSync('umount', ['-l', config.state]);
    }
  });

  test('upgrade', async () => {
    const account = await stage.account();
    const bot = await stage.quoting(account);
    await stage.operator('POST', 'deposits', { account: account.id, asset: 'mxn', amount: '777' });
    await bot.hears(/booked under deposits: 777 mxn/);
    expect((await stage.stops(bot)).code).toBe(0);
    const checked = await stage.types(['check', '-c', bot.file], account);
    expect([checked.code, checked.text]).toEqual([0, expect.stringContaining('# quotes that the bot would place now')]);
    const again = stage.run(bot, account);
    await again.hears(QUOTING);
    expect((await stage.types(['ledger', '-c', bot.file, '--currency', 'mxn'])).text).toMatch(/^deposits +777/m);
    expect((await stage.stops(again)).code).toBe(0);
  });
});

describe.concurrent('on an exchange of its own', () => {
  const stages: Stage[] = [];
  const opened = async (args: readonly string[] = []) => {
    const stage = new Stage();
    stages.push(stage);
    return { stage, exchange: await stage.openExchange(args) };
  };
  afterAll(() => Promise.all(stages.map(stage => stage.close())));

  test('changed tick', async () => {
    const { stage } = await opened();
    const bot = await stage.quoting({});
    const since = bot.heard;
    await stage.operator('PATCH', 'books/btc_mxn', { tick_size: '100' });
    await bot.hears(/the exchange changed btc_mxn: tick 10 -> 100/, since);
    await bot.hears(QUOTING, since);
    expect(bot.run.stderr()).not.toContain('halted: ');
    expect((await stage.stops(bot)).code).toBe(0);
  });

  test('changed fees', async () => {
    const { stage } = await opened();
    const bot = await stage.quoting({});
    const since = bot.heard;
    await stage.operator('PATCH', 'books/btc_mxn', { maker: '0.006', taker: '0.008' });
    await bot.hears(/the exchange changed btc_mxn: /, since);
    await bot.hears(/not quoting|spread/, since);
    expect((await stage.stops(bot)).code).toBe(0);
  });

  test('wrong clock', async () => {
    const { stage } = await opened(['--speed', '1.2']);
    const bot = await stage.quoting({});
    const since = bot.heard;
    await pause(30_000);
    await stage.operator('PATCH', 'switches', { nonceSkewMs: 2_000 });
    await bot.hears(/0207/, since);
    const refused = bot.heard;
    await stage.operator('PATCH', 'switches', { nonceSkewMs: 0 });
    await bot.hears(SHOWN, refused);
    expect(existsSync(join(bot.state, 'HALTED'))).toBe(false);
    expect((await stage.stops(bot)).code).toBe(0);
  });

  test('maintenance of ten minutes with a sentinel', async () => {
    const { stage, exchange } = await opened();
    const keys = await stage.operator('GET', 'truth');
    expect(keys).toBeDefined();
    const bot = await stage.quoting({}, { sentinel: { ttlMs: 20_000 } });
    const sentinel = stage.sentinel(bot.file, {});
    expect(await within(PATIENCE_MS, () => /sentinel: watching/.test(sentinel.stderr())), sentinel.stderr()).toBe(true);
    await pause(5_000);
    const since = bot.heard;
    exchange.signal('SIGSTOP');
    await pause(45_000);
    exchange.signal('SIGCONT');
    await bot.hears(QUOTING, since);
    expect(existsSync(join(bot.state, 'HALTED'))).toBe(false);
    sentinel.signal('SIGTERM');
    expect((await stage.stops(bot)).code).toBe(0);
  });
});
