import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { configAt, configOf, configTextAt, settingsOf } from '../../../../backtest/app/tune/parameters.ts';
import { strategyTextIn } from '../../../../src/config.ts';
import { readStudy, studyDigest } from '../../../../backtest/app/tune/study.ts';
import { shippedConfig } from '../../../../src/wiring/configFile.ts';
import { folderWith, OWN_STRATEGY } from '../../../strategies/ownFile.ts';
import { folder, studyFile } from './studies.ts';

const dir = folder();

/** The lines that a study is refused with, without the file's name. */
function refused(text: string): string[] {
  const file = join(dir, 'wrong.yaml');
  writeFileSync(file, text.replaceAll('SANDBOX', shippedConfig('sandbox')));
  try {
    readStudy(file);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').map(line => line.replace(`${file}:`, ''));
  }
}

const HEAD = 'config: SANDBOX\ntapes: [{ name: a, flow: { seconds: 600, seed: 1 } }]\nsearch: { trials: 4 }\n';
const withParameters = (yaml: string): string => `${HEAD}parameters:\n${yaml}\n`;

describe('a study', () => {
  test('is read with its defaults and the order in which conditions come first', () => {
    const study = readStudy(
      studyFile(dir, {
        parameters: {
          'strategy.levelSpacingBps': { log: [2, 20], when: { 'strategy.levels': [2, 3] } },
          'strategy.levels': { integer: [1, 3] },
        },
      }),
    );
    expect(study.space.map(({ key }) => key)).toEqual(['strategy.levels', 'strategy.levelSpacingBps']);
    expect(study.keys.objectives).toEqual(['net60s']);
    expect(study.keys.holdout).toEqual({ lastShare: 0.25 });
  });

  test.each([
    'exchange.market.books.btc_mxn.fees: { choice: { low: { maker: "0.0004", taker: "0.0005" }, high: { maker: "0.0008", taker: "0.0009" } } }',
    'exchange.volume30d: { choice: ["0", "200000000"] }',
  ])('may choose between fees of the traded book: %s', parameter => {
    expect(refused(withParameters(`  ${parameter}`).replace('SANDBOX', shippedConfig('desk-exchange')))).toEqual([]);
  });

  test.each([
    [withParameters('  strategy.levels: { integer: [1, 3] }\nspeeds: 3'), [/^6:1 speeds: unknown key/]],
    [
      'config: SANDBOX\ntapes: []\nsearch: { trials: 4 }\nparameters: { a: { choice: [1] } }',
      [/^2:1 tapes: expected at least 1 entries/],
    ],
    [
      withParameters('  strategy.halfSpredBps: { linear: [1, 2] }'),
      ['5:3 parameters.strategy.halfSpredBps: unknown key; did you mean halfSpreadBps?'],
    ],
    [
      withParameters('  strategy.halfSpreadBps: { linear: [-4, 20] }'),
      [
        /^5:\d+ parameters\.strategy\.halfSpreadBps\.linear: the configuration refuses -4: expected (at least|more than) 0/,
      ],
    ],
    [
      withParameters('  strategy.halfSpreadBps: { linear: [9, 4] }'),
      [/^5:3 parameters\.strategy\.halfSpreadBps: expected two numbers with low <= high, found low 9 and high 4/],
    ],
    [
      withParameters('  strategy.halfSpreadBps: { linear: [4, 9], log: [1, 2] }'),
      [/expected exactly one of linear, log, integer, choice/],
    ],
    [
      withParameters('  strategy.reference: { choice: [mid, middle] }'),
      [/^5:\d+ parameters\.strategy\.reference\.choice\.1: the configuration refuses "middle": expected one of/],
    ],
    [
      withParameters('  strategy.halfSpreadBps: { linear: [4, 9], when: { strategy.levels: 2 } }'),
      [/depends on strategy\.levels; expected strategy\.levels earlier in the list of parameters/],
    ],
    [
      withParameters('  strategy.levels: { integer: [1, 3] }\nobjectives: [profit]'),
      [/objectives\.0: expected one of net60s, net/],
    ],
    [
      withParameters('  strategy.levels: { integer: [1, 3] }\nconstraints: { fils: { min: 3 } }'),
      [/constraints\.fils/],
    ],
    [
      withParameters('  strategy.levels: { integer: [1, 3] }\nconstraints: { fills: {} }'),
      [/constraints\.fills: expected min:, max: or both/],
    ],
    [
      withParameters('  strategy.levels: { integer: [1, 3] }\nholdout: { tapes: [b] }'),
      [/holdout\.tapes\.0: no tape has the name b; the tapes have the names a/],
    ],
    [
      withParameters('  strategy.levels: { integer: [1, 3] }\nholdout: { tapes: [a] }'),
      [/the holdout contains every tape/],
    ],
    [
      withParameters('  strategy.levels: { choice: [1, 3], step: 2 }'),
      [
        /^5:\d+ parameters\.strategy\.levels\.step: expected no step with choice, because choice lists the values, found 2$/,
      ],
    ],
    [
      withParameters('  strategy.levels: { integer: [1, 3] }\nreference: { btc_usd: tapes/btc_usd }'),
      [/^6:\d+ reference\.btc_usd: the configuration has no reference price .*; remove this/],
    ],
    [
      withParameters('  strategy.levels: { integer: [1, 3] }\nreference: { usd_mxn: a, eth_usd: b }').replace(
        'SANDBOX',
        shippedConfig('peg'),
      ),
      [
        /^6:\d+ reference\.eth_usd: the configuration does not use this book; expected one of btc_usd, usd_mxn; remove this/,
      ],
    ],
    [
      withParameters('  regimes.reduceOnly: { choice: { none: {} } }'),
      [
        /^5:3 parameters\.regimes\.reduceOnly: all values of this parameter give the same bot: .*set positionShare or drawdownShare/,
      ],
    ],
    ...[
      ['hedge.elsewhere.debtMax', 'hedge.elsewhere'],
      ['exchange.budgets.publicPerMinute', 'exchange.budgets.publicPerMinute'],
      ['exchange.seed', 'exchange.seed'],
      ['paper.latencyMs', 'paper'],
      ['exchange.engineDelayMs', 'exchange.engineDelayMs'],
    ].map(([key, unsimulated]): [string, RegExp[]] => [
      withParameters(`  ${key}: { integer: [1, 3] }`),
      [RegExp(`^5:3 parameters\\.${key}: all trials would be the same bot: .* does not simulate ${unsimulated}$`)],
    ]),
    ...[
      'exchange.market.books.eth_usd.fees.maker: { choice: ["0.0004", "0.0008"] }',
      'exchange.market.books.btc_mxn.lagMs: { integer: [0, 9] }',
    ].map((parameter): [string, RegExp[]] => [
      withParameters(`  ${parameter}`).replace('SANDBOX', shippedConfig('desk-exchange')),
      [
        /^5:3 parameters\.exchange\.market\.books\S+: all trials would be the same bot: .* fees of the traded book, which stay/,
      ],
    ]),
    ...['hedge.band: { choice: ["0.001", "0.002"] }', 'inventory.target: { choice: ["1", "2"] }'].map(
      (parameter): [string, RegExp[]] => [
        withParameters(`  ${parameter}`).replace('SANDBOX', shippedConfig('elsewhere')),
        [
          /^5:3 parameters\.\S+: all trials would be the same bot: .* hedges on the other exchange, and ignores this key$/,
        ],
      ],
    ),
    [withParameters('  strategy.levels: { integer: [1, 3]'), [/not valid YAML/]],
  ])('%# is told in one clear line with its place', (text, lines) => {
    const found = refused(text);
    expect(found).toHaveLength(lines.length);
    for (const [i, line] of lines.entries())
      if (typeof line === 'string') expect(found[i]).toBe(line);
      else expect(found[i]).toMatch(line);
  });

  test('has one digest for any number of trials, and another for anything that changes a result', () => {
    const digest = (other: object) => studyDigest(readStudy(studyFile(dir, other)), '1', ['tape']);
    const search = { algorithm: 'sobol', seed: 1, trials: 4, batch: 2 };
    expect(digest({ search: { ...search, trials: 40 } })).toBe(digest({}));
    const others = [
      { search: { ...search, seed: 2 } },
      { segments: 3 },
      { models: ['pessimistic'] },
      { latenciesMs: [50] },
    ];
    expect(new Set([{}, ...others].map(digest)).size).toBe(5);
  });
});

describe('a point', () => {
  const parameters = {
    'strategy.amount': { log: [0.001, 0.01] as [number, number] },
    'strategy.halfSpreadBps': { linear: [4, 40] as [number, number] },
  };

  test('becomes text where the configuration wants decimal text, with four digits', () => {
    const study = readStudy(studyFile(dir, { parameters }));
    const point = { 'strategy.amount': 0.00123456, 'strategy.halfSpreadBps': 16.123456 };
    expect(settingsOf(point, study.keys.parameters, study.base)).toEqual([
      ['strategy.amount', '0.001235'],
      ['strategy.halfSpreadBps', 16.12],
    ]);
    const config = configAt(point, study.keys.parameters, study.base);
    expect(config).toMatchObject({ strategy: { amount: '0.001235', halfSpreadBps: 16.12, levels: 3 } });
  });

  test('that no configuration can have is told by its reason', () => {
    const study = readStudy(studyFile(dir, { parameters: { 'limits.ordersMax': { integer: [1, 12] } } }));
    expect(configAt({ 'limits.ordersMax': 1 }, study.keys.parameters, study.base)).toMatch(/ordersMax/);
  });

  test('may choose whole parts of the configuration by name, and keys that only one of them has', () => {
    const strategy = {
      narrow: { name: 'ladder', reference: 'mid', halfSpreadBps: 12, levels: 1, amount: '0.002', minEdgeBps: 1 },
      wide: {
        name: 'ladder',
        reference: 'mid',
        halfSpreadBps: 30,
        levels: 3,
        levelSpacingBps: 5,
        amount: '0.002',
        minEdgeBps: 1,
      },
    };
    const study = readStudy(
      studyFile(dir, {
        parameters: {
          'strategy.levelSpacingBps': { linear: [2, 9], when: { strategy: 'wide' } },
          strategy: { choice: strategy },
        },
      }),
    );
    const config = configAt({ strategy: 'wide', 'strategy.levelSpacingBps': 7 }, study.keys.parameters, study.base);
    expect(config).toMatchObject({ strategy: { halfSpreadBps: 30, levels: 3, levelSpacingBps: 7 } });
  });
});

describe('a study of a strategy file', () => {
  const studyFolder = (code: string, parameters: string) => {
    const { dir, yaml } = folderWith(code);
    const file = join(dir, 'study.yaml');
    writeFileSync(file, withParameters(parameters).replace('SANDBOX', yaml));
    return { dir, file };
  };
  const studyOf = (code: string, parameters: string) => readStudy(studyFolder(code, parameters).file);
  const TAKERS = '  strategy.takerBps: { linear: [0, 10] }';

  test('varies the parameters of the file, and its trials have the text of the file', () => {
    const { keys, base } = studyOf(OWN_STRATEGY, TAKERS);
    const config = configAt({ 'strategy.takerBps': 7 }, keys.parameters, base);
    expect(config).toMatchObject({ strategy: { takerBps: 7, file: './own.ts', code: OWN_STRATEGY } });
    const text = configTextAt({ 'strategy.takerBps': 7 }, keys.parameters, base);
    expect(text).not.toContain('defineStrategy');
    expect(configOf(text, strategyTextIn(base))).toEqual(config);
    expect(configOf(text)).toMatch(/the trial has no text of its strategy file/);
  });

  test('has another digest after a change of the file', () => {
    const { file, dir } = studyFolder(OWN_STRATEGY, TAKERS);
    const digest = () => studyDigest(readStudy(file), '1', []);
    const before = digest();
    expect(digest()).toBe(before);
    writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}\n`);
    expect(digest()).not.toBe(before);
  });

  test.each([
    ['strategy.takerBp: { linear: [0, 10] }', /takerBp: unknown key; did you mean takerBps\?/],
    ['strategy.takerBps: { linear: [0, 99] }', /takerBps.*: the configuration refuses 99: expected at most 50/],
    ['strategy.file: { choice: [./own.ts, ./other.ts] }', /strategy\.file: all trials run the same strategy file/],
  ])('refuses %s', (parameter, line) => {
    expect(() => studyOf(OWN_STRATEGY, `  ${parameter}`)).toThrow(line);
  });
});
