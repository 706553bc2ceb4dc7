/** Exports of `puntas/strategy` may grow; a removed name is a change that docs/upgrading.md promises to announce. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as contract from '../../strategies/contract.ts';

const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

/** Add what is new. Remove or rename only with a higher second number of the version. */
const VALUES = [
  ...['CONTRACT', 'EwmaVolatility', 'OrderFlow', 'RunningDeviation', 'TradeMean', 'WARMUP_MAX_MS', 'aboveZero'],
  ...['adverseSteps', 'amountFloor', 'awayOf', 'bestOf', 'bps', 'clamp', 'decimalText', 'defineFillModel'],
  ...[
    'defineStrategy',
    'depthImbalance',
    'duration',
    'fairPrice',
    'fairSteps',
    'inventoryRoom',
    'levelParameters',
    'levelProblems',
  ],
  ...['millisOf', 'minEdge', 'priceCeil', 'priceFloor', 'quoteAround', 'quoteLevelsOf', 'roundTripRise'],
  ...[
    'roundTripShare',
    'silent',
    'skewPositionOf',
    'spreadEdgeProblem',
    'spreadLimitProblems',
    'spreadParameters',
    'toleranceOf',
  ],
  ...['totalOf', 'unknownIn', 'withStep', 'z'],
];
const TYPES = [
  ...['Amount', 'AmountStep', 'Depth', 'Fair', 'Figure', 'Instrument', 'LastFill', 'Level', 'LimitProblem'],
  ...[
    'LimitsAsked',
    'Millis',
    'OwnArrival',
    'OwnDefinition',
    'OwnFillModel',
    'OwnQueue',
    'Price',
    'Quote',
    'Reference',
    'RequoteTolerance',
    'RfqPrices',
  ],
  ...['SeenTrade', 'Side', 'Step', 'Strategy', 'View'],
];

test('the contract exports these values and types, and nothing else', () => {
  expect(Object.keys(contract).sort()).toEqual([...VALUES].sort());
  const exported = [...textOf('strategies/contract.ts').matchAll(/^export (type )?\{([^}]+)\}/gm)].flatMap(
    ([, all, list]) =>
      list!
        .split(',')
        .map(name => name.trim())
        .filter(Boolean)
        .map(name => ({
          name: name.replace(/^type /, '').replace(/^.* as /, ''),
          isType: all !== undefined || name.startsWith('type '),
        })),
  );
  for (const [, kind, name] of textOf('strategies/contract.ts').matchAll(/^export (const|type) (\w+)/gm))
    exported.push({ name: name!, isType: kind === 'type' });
  const namesOf = (isType: boolean) => exported.filter(one => one.isType === isType).map(({ name }) => name);
  expect(namesOf(true).sort()).toEqual([...TYPES].sort());
  expect(namesOf(false).sort()).toEqual([...VALUES].sort());
});

test('every estimator that the page of strategies describes is one of them', () => {
  const named = [...textOf('docs/development/strategies.md').matchAll(/^\| `(?:new )?(\w+)\(/gm)].map(
    ([, name]) => name!,
  );
  expect(named).toContain('EwmaVolatility');
  expect(named.filter(name => !VALUES.includes(name))).toEqual([]);
});
