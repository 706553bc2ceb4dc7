/** Quotes that cannot be are never called quoting: check, run and /readyz say so, each with the reason and what to change. */
import { afterAll, describe, expect, test } from 'vitest';
import { Bench, puntas, ran } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

const replaced =
  (...changes: readonly (readonly [RegExp, string])[]) =>
  (text: string) =>
    changes.reduce((before, [from, to]) => {
      const after = before.replace(from, to);
      if (after === before) throw new Error(`${from} is not in the configuration`);
      return after;
    }, text);
const sandbox = (...changes: readonly (readonly [RegExp, string])[]) => bench.config('sandbox', replaced(...changes));
const amountOf = (text: string) =>
  [
    [/amount: ["']?0\.004["']?/, `amount: '${text}'`],
    [/levelAmountStep: ["']?0\.002["']?/, "levelAmountStep: '0'"],
  ] as const;
const held = (btc: string, mxn: string) =>
  [
    [/btc: ["']?1\.5["']?/, `btc: '${btc}'`],
    [/mxn: ["']?2000000["']?/, `mxn: '${mxn}'`],
    [/target: ["']?1\.5["']?/, `target: '${btc}'`],
  ] as const;

const CANNOT: readonly (readonly [string, () => string, RegExp])[] = [
  [
    'the largest value of an order is below what each is worth',
    () => sandbox([/orderValueMax: ["']?50000["']?/, "orderValueMax: '500'"]),
    /no bid and no ask: order value limit \(0\.004 btc at \d+ is worth [\d.]+ mxn, but limits\.orderValueMax is 500 mxn; raise this limit, or lower strategy\.amount\)/,
  ],
  [
    "the largest value of an order is below the exchange's least",
    () => sandbox([/orderValueMax: ["']?50000["']?/, "orderValueMax: '5'"]),
    /no bid and no ask: order value limit \(limits\.orderValueMax 5 mxn is below 10 mxn, the exchange's minimum order value of btc_mxn; raise limits\.orderValueMax\)/,
  ],
  [
    "the amount is below the exchange's least",
    () => sandbox(...amountOf('0.00000001')),
    /no bid and no ask: below the minimum amount \(0\.00000001 btc is below [\d.]+ btc, the exchange's minimum order amount of btc_mxn; raise strategy\.amount\)/,
  ],
  [
    "the amount is worth less than the exchange's least value",
    () => sandbox(...amountOf('0.000002')),
    /no bid and no ask: below the minimum value \(0\.000002 btc at \d+ is worth [\d.]+ mxn, but the exchange's minimum order value of btc_mxn is 10 mxn; raise strategy\.amount\)/,
  ],
  [
    'there is no money for either side',
    () => sandbox(...held('0.001', '100')),
    /no bid: insufficient funds \(0\.004 btc at \d+ needs [\d.]+ mxn, but only 100 mxn is available; .*\); no ask: insufficient funds \(.* but only 0\.001 btc is available; deposit more, or lower strategy\.amount\)/,
  ],
];

describe('where nothing can be quoted', () => {
  test.each(CANNOT)('because %s, check ends with 2 and the reason', async (_, file, says) => {
    const { code, stdout, stderr } = await ran(['check', '-c', file()]);
    const sentence = stderr.split('\n').find(line => line.startsWith('the bot would not quote: '));
    expect(sentence).toMatch(says);
    expect(code).toBe(2);
    // What it would have placed is shown all the same.
    expect(stdout).toContain('# quotes that the bot would place now');
  });

  test.each(CANNOT)('because %s, run says so instead of quoting, and /readyz is 503', async (_, file, says) => {
    const bot = puntas(['run', '-c', file(), '--json']);
    const [, url] = await bot.sees(/metrics at (http:\/\/[\d.:]+)\/metrics/);
    await bot.sees(/"msg":"nothing is quoted: /);
    const answer = await fetch(`${url!}/readyz`);
    const { ready, reasons } = (await answer.json()) as { ready: boolean; reasons: string[] };
    expect([answer.status, ready]).toEqual([503, false]);
    expect(reasons).toEqual([expect.stringMatching(says)]);
    bot.signal('SIGTERM');
    const { code, stdout, stderr } = await bot.ended;
    const told = stderr.split('\n').filter(line => /"msg":"(quoting|nothing is quoted)/.test(line));
    expect(told).toEqual([expect.stringMatching(says)]);
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toMatchObject({
      orders: { placed: 0 },
      uptime: { bid: 0, ask: 0 },
    });
    expect(code).toBe(0);
  });

  test.each([
    [
      'a position below one order',
      [/positionMax: ["']?0\.1["']?/, "positionMax: '0.001'"],
      /strategy\.amount: .*limits\.positionMax "0\.001"/,
    ],
    ['no order at all', [/ordersMax: 12/, 'ordersMax: 0'], /limits\.ordersMax: expected at least 1, found 0/],
    [
      'fewer orders than levels',
      [/ordersMax: 12/, 'ordersMax: 1'],
      /strategy\.levels: 3 levels per side need 6 orders, more than limits\.ordersMax 1/,
    ],
    [
      'a spread beyond the collar',
      [/halfSpreadBps: 16/, 'halfSpreadBps: 300'],
      /strategy\.levelSpacingBps: .*beyond limits\.collarBps 200/,
    ],
  ] as const)('%s is refused by check and by run before anything is read', async (_, change, says) => {
    const file = sandbox(change);
    for (const args of [
      ['check', '-c', file],
      ['run', '-c', file, '--for', '2s'],
    ]) {
      const { code, stderr } = await ran(args);
      expect(stderr).toMatch(says);
      expect(code).toBe(2);
    }
  });
});

describe('where one side can be quoted', () => {
  test('check says which one cannot and why, and ends well; the bot is ready', async () => {
    const file = sandbox(...held('0.001', '2000000'));
    const { code, stdout } = await ran(['check', '-c', file]);
    expect(stdout).toMatch(/^ {2}no ask: insufficient funds \(.* but only 0\.001 btc is available; /m);
    expect(stdout).not.toMatch(/no bid/);
    expect(code).toBe(0);
    const bot = puntas(['run', '-c', file, '--json']);
    const [, url] = await bot.sees(/metrics at (http:\/\/[\d.:]+)\/metrics/);
    await bot.sees(/"msg":"quoting"/);
    expect(await (await fetch(`${url!}/readyz`)).json()).toMatchObject({ ready: true });
    bot.signal('SIGTERM');
    expect((await bot.ended).code).toBe(0);
  });
});
