import { describe, expect, test } from 'vitest';
import { verdictLines } from '../../../src/app/develop/checkStrategy.ts';
import { FUNCTIONS_LAW, strategyVerdicts } from '../../../src/app/develop/strategyCheck.ts';
import { FILE_LAW, STRATEGY_LAWS, strategyFileOf } from '../../../strategies/index.ts';
import { changedOwn, OWN_STRATEGY, quotingBy } from '../../strategies/ownFile.ts';

const verdictsOf = (code: string, parameters: Readonly<Record<string, unknown>> | null = null) =>
  strategyVerdicts(strategyFileOf('./own.ts', code), parameters);

/** Text of each broken law. */
const brokenBy = (code: string): readonly string[] =>
  verdictsOf(code).flatMap(({ law, violation }) => (violation === null ? [] : [`${law}: ${violation}`]));

const level = (price: string, amount = '1000'): string =>
  `[{ price: ${price}, amount: ${amount}, why: [{ name: 'x', ticks: ${price} }] }]`;
const bidding = (levels: string): string => quotingBy(`return { bids: ${levels}, asks: [], noAsk: 'none wanted' };`);

describe('the check of a strategy file', () => {
  test('passes a strategy that obeys every law, with the same verdicts each time', () => {
    const verdicts = verdictsOf(OWN_STRATEGY);
    expect(verdicts).toEqual(
      [FUNCTIONS_LAW, ...STRATEGY_LAWS.map(({ name }) => name), FILE_LAW.name].map(law => ({ law, violation: null })),
    );
    expect(verdictsOf(OWN_STRATEGY)).toEqual(verdicts);
  });

  const faults: readonly (readonly [name: string, code: string, violation: RegExp])[] = [
    [
      'an edge that is no text',
      changedOwn('contract: 1', 'contract: 1, edgeProblem: () => 3 as never'),
      /^edgeProblem, .*: edgeProblem: expected text or null, found 3$/,
    ],
    [
      'limits that throw',
      changedOwn('contract: 1', "contract: 1, limitProblems: () => { throw new Error('a\\nb'); }"),
      /^edgeProblem, .*: limitProblems threw at \.\/own\.ts:\d+: a b$/,
    ],
    [
      'a tolerance that changes',
      changedOwn(
        'contract: 1',
        'contract: 1, tolerance: () => ({ priceBps: flips++, amountShare: 1, maxAgeMs: 1 })',
      ).replace('type Flow', 'let flips = 0;\ntype Flow'),
      /^edgeProblem, .*: tolerance: two calls with the same values gave different results$/,
    ],
    [
      'a history without trades',
      changedOwn('contract: 1', 'contract: 1, history: () => 1').replace('trade: ({ side })', 'heard: ({ side }: any)'),
      /^edgeProblem, .*: history: expected a strategy with the function trade$/,
    ],
    [
      'a history of no time',
      changedOwn('contract: 1', 'contract: 1, history: () => NaN'),
      /: history: expected ms of at/,
    ],
    [
      'a quote that is a promise',
      quotingBy('').replace('quote(view)', 'async quote(view)'),
      /^returns a valid quote.*: quote returned a promise, but must return its result at once, because the bot does not wait; remove async and await$/,
    ],
    [
      'a trade that is a promise',
      changedOwn('trade: ({ side }) => void', 'trade: async ({ side }) => void'),
      /^returns a valid quote.*: trade returned a promise, but must/,
    ],
    [
      'a warm-up that is a promise',
      changedOwn('contract: 1', 'contract: 1, warmup: (async () => 5) as never'),
      /^edgeProblem, .*: warmup returned a promise, but must/,
    ],
    [
      'an error',
      quotingBy("throw new Error('no luck');"),
      /^returns a valid quote.*: threw at \.\/own\.ts:17: no luck$/,
    ],
    [
      'an error at a later call as an error of each quote, not of numbers that are not finite',
      quotingBy(
        "const seen = flow as { calls?: number }; seen.calls = (seen.calls ?? 0) + 1; if (seen.calls === 16) throw new Error('late'); return around(p, lots, view, [...fairSteps(view)]);",
      ),
      /^returns a valid quote.*: threw at \.\/own\.ts:17: late$/,
    ],
    ['no quote', quotingBy('return;'), /^returns a valid quote.*: expected an object, found nothing$/],
    [
      'an empty side without a reason',
      quotingBy("return { bids: [], asks: [], noBid: 'x' };"),
      /no asks, and noAsk gives no reason$/,
    ],
    [
      'a price that is not finite',
      bidding(level('view.mid / 0')),
      /^quotes finite prices.*: bids\[0\]\.price: expected a finite number, found Infinity$/,
    ],
    [
      'a part of a lot',
      bidding(level('1', '0.5')),
      /^quotes finite.*: bids\[0\]: amount 0\.5 is not a whole number of lots; round/,
    ],
    [
      'an amount below zero',
      bidding(level('1', '-5')),
      /^returns a valid quote.*: bids\[0\]\.amount: expected at least 0 lots, found -5$/,
    ],
    [
      'a bid above its own ask',
      quotingBy(`const at = (price: number) => ({ price, amount: 1, why: [{ name: 'x', ticks: price }] });
        return { bids: [at(view.mid + 1)], asks: [at(view.mid - 1)] };`),
      /^keeps its bids below its asks: the best bid \S+ is not below the best ask \S+$/,
    ],
    [
      'an ask far below the market',
      quotingBy(`const at = (price: number) => ({ price, amount: 1, why: [{ name: 'x', ticks: price }] });
        return { bids: [], asks: [at(view.mid / 2)], noBid: 'x' };`),
      /^quotes no price far beyond.*: asks\[0\]\.price: expected at most 200 bps below the best bid of the book, found \d{4}$/,
    ],
    [
      'a change of the instrument',
      quotingBy("(view.instrument as any).tick = 2; return silent('x');"),
      /^returns a valid quote.*: threw at .*: Cannot assign to read only property 'tick'/,
    ],
    [
      'an error at the 100th call',
      quotingBy(
        "const seen = flow as { calls?: number }; seen.calls = (seen.calls ?? 0) + 1; if (seen.calls === 100) throw new Error('late'); return around(p, lots, view, [...fairSteps(view)]);",
      ),
      /^returns a valid quote.*: threw at \.\/own\.ts:17: late$/,
    ],
    [
      'levels in the wrong order',
      bidding("[1, 2].map(price => ({ price, amount: 1, why: [{ name: 'x', ticks: price }] }))"),
      /^quotes finite.*: bids\[1\]: price 2 is better than the level before it$/,
    ],
    [
      'steps that do not add up',
      bidding("[{ price: 3, amount: 1, why: [{ name: 'x', ticks: 2 }] }]"),
      /^explains each price.*: price 3, but the steps in why add up to 2$/,
    ],
    [
      'a bid at the maximum position',
      bidding(level('1')),
      /^shows no bid.*: 1 bid at position 100000000, the maximum in lots$/,
    ],
    [
      'random numbers',
      quotingBy('return silent(String(Math.random()));'),
      /^returns a valid quote.*: threw at \.\/own\.ts:17: this file cannot call Math\.random; use only the view and the trades \(view\.at is the time of the decision\)$/,
    ],
    [
      'the date of now',
      quotingBy('return silent(String(new Date().getFullYear()));'),
      /^returns a valid quote.*: threw at .*: this file cannot call new Date\(\); use/,
    ],
    [
      'a timer',
      quotingBy("(0, eval)('setTimeout')(() => {}, 1); return silent('x');"),
      /^returns a valid quote.*: threw at .*: this file cannot call setTimeout$/,
    ],
    [
      'a memory that all strategies share',
      quotingBy('const all = URL as any; all.n = (all.n ?? 0) + 1; return silent(String(all.n));'),
      /^gives the same quotes/,
    ],
    [
      'a file that looks ahead by what an earlier strategy saw later',
      quotingBy(`const all = URL as any;
        const seen: { at: number; mid: number }[] = (all.seenByTest ??= []);
        const later = seen.find(one => one.at > view.at && one.at < view.at + 10_000);
        seen.push({ at: view.at, mid: view.mid });
        return around(p, lots, view, [...fairSteps(view), { name: 'later', ticks: later ? later.mid - view.mid : 0 }]);`),
      /^does not look ahead.*: gave other quotes at the second pass, as if it knew what came later; keep its memory in/,
    ],
    [
      'a file that reads the recording',
      quotingBy("process.getBuiltinModule('node:fs').readFileSync('/tape'); return silent('x');"),
      /^reads no clock.*: calls process\.getBuiltinModule; use only the view and the trades/,
    ],
    [
      'a file that opens the recording when it is loaded',
      changedOwn('type Flow', "const files = process.getBuiltinModule('node:fs');\ntype Flow"),
      /^reads no clock.*: calls process\.getBuiltinModule;/,
    ],
    [
      'a changed book',
      quotingBy("view.depth.bidAmounts[0] = 1; return silent('x');"),
      /^does not change the view: depth of the view was changed; copy it first$/,
    ],
    [
      'an error at numbers that are not finite',
      quotingBy("if (!Number.isFinite(view.position)) throw new Error('oh'); return silent('x');"),
      /^survives numbers.*: threw at \.\/own\.ts:17: oh$/,
    ],
    [
      'a memory that such numbers break',
      changedOwn('const unknown', 'flow.share += view.mid / 1e9;\n      const unknown'),
      /^survives numbers.*: after such numbers: bids\[0\]\.price: expected a finite number, found NaN$/,
    ],
  ];

  test.each(faults)('finds %s', (_, code, violation) => {
    expect(brokenBy(code).filter(line => violation.test(line)).length).toBe(1);
  });

  test('says one error that breaks several laws once, with its place and their number', () => {
    const lines = verdictLines(verdictsOf(quotingBy("throw new Error('no luck');")));
    const failed = lines.filter(line => line.startsWith('FAIL'));
    expect(failed).toEqual([expect.stringMatching(/^FAIL {2}\d+ laws: threw at \.\/own\.ts:17: no luck$/)]);
    const of = Number(/\d+/.exec(failed[0]!)![0]);
    expect(of).toBeGreaterThan(4);
    expect(lines.length - 1 + of).toBe(STRATEGY_LAWS.length + 2);
    expect(verdictLines([1, 2].map(n => ({ law: `law ${n}`, violation: `fault ${n}` })))).toEqual([
      'FAIL  law 1: fault 1',
      'FAIL  law 2: fault 2',
    ]);
  });

  test('allows the date of a given time', () => {
    expect(brokenBy(quotingBy('return silent(String(new Date(view.at).getUTCHours()));'))).toEqual([]);
  });

  test('uses the parameters of a configuration, and names the one that has no value', () => {
    const code = changedOwn('.default(2)', '');
    expect(() => verdictsOf(code)).toThrow(
      /^\.\/own\.ts: parameters: takerBps: .*; pass -c CONFIG, a configuration with the values of this strategy$/,
    );
    const verdicts = verdictsOf(code, { amount: '0.01', halfSpreadBps: 20, takerBps: 1 });
    expect(verdicts.filter(({ violation }) => violation !== null)).toEqual([]);
  });

  test('leaves clock and random numbers as they were', () => {
    const functions = () => [Math.random, Date, Date.now, setTimeout, fetch];
    const before = functions();
    verdictsOf(quotingBy('return silent(String(Math.random() + Date.now()));'));
    expect(functions()).toEqual(before);
  });
});
