import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { money } from '../../src/core/index.ts';
import { outcomeFromBalances, StableVerdict } from '../../src/hedge/balanceEvidence.ts';

const sum = fc.bigInt(1n, 10n ** 24n).map(money);
const differing = (of: Record<string, bigint>) =>
  Object.entries(of)
    .filter(([, difference]) => difference !== 0n)
    .map(([currency, difference]) => ({ currency, difference: money(difference) }));

describe('the balances, asked about a conversion with an unknown outcome,', () => {
  test('tell the truth whatever somebody else moved in one of its currencies and in any third one', () => {
    fc.assert(
      fc.property(
        sum,
        sum,
        fc.boolean(),
        fc.bigInt(-(10n ** 24n), 10n ** 24n),
        fc.constantFrom('btc', 'mxn', 'usd'),
        (give, get, isDone, moved, where) => {
          const own = isDone ? { btc: -give, mxn: get } : { btc: 0n, mxn: 0n };
          const seen: Record<string, bigint> = { usd: 0n, ...own };
          seen[where] = (seen[where] ?? 0n) + moved;
          // What looks exactly like the other outcome in one currency contradicts the other currency.
          fc.pre(isDone || (seen['btc'] !== -give && seen['mxn'] !== get));
          fc.pre(!isDone || (seen['btc'] !== 0n && seen['mxn'] !== 0n));
          const conversion = {
            id: 'h',
            give: { currency: 'btc', amount: give },
            get: { currency: 'mxn', amount: get },
          };
          expect(outcomeFromBalances(conversion, differing(seen))).toBe(isDone ? 'completed' : 'failed');
        },
      ),
    );
  });

  test('say nothing when its currencies contradict each other, or both were moved by somebody else', () => {
    const conversion = {
      id: 'h',
      give: { currency: 'btc', amount: money(5n) },
      get: { currency: 'mxn', amount: money(7n) },
    };
    expect(outcomeFromBalances(conversion, differing({ btc: -5n }))).toBeNull();
    expect(outcomeFromBalances(conversion, differing({ mxn: 7n }))).toBeNull();
    expect(outcomeFromBalances(conversion, differing({ btc: 1n, mxn: 1n }))).toBeNull();
  });
});

test('a verdict has held since the first read that gave it without another in between', () => {
  const verdict = new StableVerdict();
  const at = 1_700_000_000_000;
  const reads = ['a', 'a', 'a', 'b', 'a', 'a'].map((word, i) => verdict.heldFor(word, at + i * 10));
  expect(reads).toEqual([0, 10, 20, 0, 0, 10]);
});
