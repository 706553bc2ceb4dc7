import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ownFillModel } from '../../backtest/index.ts';
import { hypothesisQueue, levelModel } from '../../src/fills/index.ts';
import { fillModelIn, strategyFileOf, StrategyFileError } from '../../strategies/index.ts';
import { btcMxn } from '../core/market.ts';
import { frontsOf, orderAt, step } from '../fills/fronts.ts';
import { runsOf } from '../many.ts';
import { EXPECTED_FILE, ownFile } from './ownFillModels.ts';

const modelOf = (code: string) => ownFillModel(strategyFileOf('own.ts', code), btcMxn, () => 0.5);

const faultOf = (code: string): string => {
  try {
    fillModelIn('own.ts', code)(btcMxn, () => 0.5);
  } catch (error) {
    if (error instanceof StrategyFileError) return error.message;
    throw error;
  }
  return 'no fault';
};

describe('a fill model file', () => {
  test('with the rule of expected keeps every order in the place of expected, to the digit', () => {
    const { queue } = modelOf(EXPECTED_FILE);
    fc.assert(
      fc.property(fc.nat(50), fc.array(step, { maxLength: 20 }), (displayed, steps) => {
        expect(frontsOf(queue, displayed, steps)).toEqual(frontsOf(levelModel('expected').queue, displayed, steps));
      }),
      runsOf(500, 100),
    );
  });

  test('with the rule of a hypothesis keeps every order in the place of that hypothesis, and splits no cancel of nothing', () => {
    // Lots of an order ahead of it only behind all displayed ones: a file has no other way to hide them.
    const factors = fc.constantFrom([0.25, 0], [0.5, 0], [1, 0], [1.5, 0], [4, 0], [1, 0.5], [1, 8], [2, 1]);
    fc.assert(
      fc.property(
        factors,
        fc.constantFrom(1, 2),
        fc.oneof(fc.constant(0), fc.nat(50)),
        fc.array(fc.oneof(step, fc.constant({ traded: 0, after: 0 })), { maxLength: 20 }),
        (of, power, displayed, steps) => {
          const [shown = 1, own = 0] = of;
          const { queue } = modelOf(
            ownFile(`make: () => ({
  ahead: ({ displayed, amount }) => ${shown} * displayed + ${own} * amount,
  canceledBehind: (ahead: number, behind: number) => {
    if (ahead + behind === 0) throw new Error('nothing to split');
    return behind ** ${power} / (behind ** ${power} + ahead ** ${power});
  },
})`),
          );
          const hypothesis = hypothesisQueue({ cancels: power === 2 ? 'power2' : 'power1', shown, own });
          const fronts = frontsOf(hypothesis, displayed, steps);
          expect(frontsOf(queue, displayed, steps)).toEqual(fronts.map(front => expect.closeTo(front, 6) as number));
        },
      ),
      runsOf(300, 60),
    );
  });

  test.each(['-0.01', '1.01', '2', 'NaN', "'0.5'", 'null'])('splits no cancel by the share %s', share => {
    const { queue } = modelOf(
      ownFile(`make: () => ({ ahead: ({ displayed }) => displayed, canceledBehind: () => (${share}) as never })`),
    );
    expect(() => frontsOf(queue, 20, [{ traded: 0, after: 10 }])).toThrow(
      /canceledBehind: expected a number from 0 to 1/,
    );
  });

  test('has hidden lots after the displayed ones, which no cancel removes', () => {
    const { queue } = modelOf(
      ownFile('make: () => ({ ahead: ({ displayed, amount }) => displayed + 2 * amount, canceledBehind: () => 0 })'),
    );
    fc.assert(
      fc.property(fc.nat(50), fc.array(fc.nat(60), { maxLength: 20 }), (displayed, levels) => {
        const fronts = frontsOf(
          queue,
          displayed,
          levels.map(after => ({ traded: 0, after })),
        );
        for (const front of fronts) expect(front).toBeGreaterThanOrEqual(20);
      }),
      runsOf(500, 100),
    );
  });

  test('learns whether the recording shows the price of an order', () => {
    const { queue } = modelOf(
      ownFile(
        'make: () => ({ ahead: ({ displayed, isShown }) => (isShown ? 1 : displayed / 2), canceledBehind: () => 0 })',
      ),
    );
    const order = orderAt(7);
    queue.joinedUnseen(order, 30);
    expect(order.front).toBe(15);
    queue.joined(order, 30);
    expect(order.front).toBe(1);
  });

  test('gets random numbers and the book, and shares no variables between two backtests', () => {
    const make = fillModelIn(
      'own.ts',
      `import { defineFillModel } from 'puntas/strategy';
let made = 0;
export default defineFillModel({ contract: 1, make: ({ instrument, random }) => {
  made++;
  return { ahead: () => made * 1_000 + random(), canceledBehind: () => (instrument.symbol === 'btc_mxn' ? 1 : 0) };
} });`,
    );
    const arrival = { displayed: 5, amount: 1, isShown: true };
    for (const draw of [0.25, 0.75]) {
      const own = make(btcMxn, () => draw);
      expect([own.ahead(arrival), own.canceledBehind(1, 1)]).toEqual([1_000 + draw, 1]);
    }
  });

  test.each([
    ['without an export', 'const x = 1;', 'expected a fill model as the default export, found nothing; write'],
    ['of another contract', 'export default { contract: 2, make() {} };', 'expected contract: 1, found 2; this Puntas'],
    ['without make', 'export default { contract: 1 };', 'make: expected a function, found nothing'],
    [
      'that imports',
      "import 'node:fs';",
      'own.ts:1: expected imports of puntas/strategy only, found node:fs; a fill model is one file',
    ],
    ['that exports more', 'export const x = 1;', 'export default defineFillModel({ … }), found another export'],
    ['with a syntax error', 'export default {', 'correct the syntax'],
    ['that throws', "throw new Error('not here');", 'own.ts:1: threw at load: not here; correct the file'],
    ['that ends the process', 'process.exit(0);', 'threw at load: this file cannot call process.exit'],
    ['with a timer', 'setTimeout(() => {}, 1);', 'threw at load: this file cannot call setTimeout'],
    [
      'whose queue lacks a function',
      ownFile('make: () => ({ ahead: () => 1 })'),
      'make: expected a queue with the function canceledBehind, found nothing',
    ],
    [
      'that is a strategy',
      'export default { contract: 1, parameters: {}, make: () => ({ quote() {} }) };',
      'make: expected a queue with the function ahead, found nothing',
    ],
  ])('%s is refused in one line', (_name, code, line) => {
    expect(faultOf(code)).toContain(line);
    expect(faultOf(code)).toMatch(/^own\.ts[^\n]*$/);
  });

  test('that is a fill model has no fault', () => {
    expect(faultOf(EXPECTED_FILE)).toBe('no fault');
  });
});
