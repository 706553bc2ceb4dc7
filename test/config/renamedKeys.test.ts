import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { NO_CONFIGURATION } from '../shippedConfigs.ts';
import { parse, stringify } from 'yaml';
import { loadConfig, recordedConfig } from '../../src/config.ts';
import { OLD_KEYS_END } from '../../src/config/renamedKeys.ts';

const root = new URL('../../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const hedged = textOf('config/hedged.yaml').replace(
  /^ {2}risk:[^]*? {2}costMaxBps/m,
  "  band: '0.08'\n  residual: '0.02'\n  costMaxBps",
);
const imbalance = textOf('config/imbalance.yaml');

/** What is added to a shipped file or changed in it, under the new name; then the old path, and the new one. */
const RENAMED: readonly (readonly [text: string, old: string, now: string])[] = [
  [`${hedged}timing: { requestDelayMaxMs: 40000 }\n`, 'timing.fenceMs', 'timing.requestDelayMaxMs'],
  [`${hedged}timing: { tradeReportDelayMaxMs: 30000 }\n`, 'timing.settleMs', 'timing.tradeReportDelayMaxMs'],
  [`${hedged}rfqReference: { amount: '0.01', thinBps: 40 }\n`, 'witness', 'rfqReference'],
  [hedged, 'hedge.ways', 'hedge.venues'],
  [hedged, 'hedge.rest', 'hedge.residual'],
  [hedged.replace('  band:', '  quoteLifeMinMs: 7000\n  band:'), 'hedge.marginMs', 'hedge.quoteLifeMinMs'],
  [imbalance, 'strategy.leanBps', 'strategy.bpsPerDeviation'],
  [
    `${hedged}fairValue: { mid: {}, depthImbalance: { bpsPerDeviation: 3 } }\n`,
    'fairValue.depthImbalance.leanBps',
    'fairValue.depthImbalance.bpsPerDeviation',
  ],
];
const lastOf = (path: string): string => path.split('.').at(-1)!;
const older = (text: string, old: string, now: string): string => text.replace(`${lastOf(now)}:`, `${lastOf(old)}:`);
/** `line:column` of a key. */
const placeOf = (text: string, key: string): string => {
  const before = text.slice(0, new RegExp(`\\b${key}:`).exec(text)!.index).split('\n');
  return `${before.length}:${before.at(-1)!.length + 1}`;
};

describe('an old name of a key', () => {
  test.each(RENAMED)('is taken, with one line that names the new one: %#', (text, old, now) => {
    const before = older(text, old, now);
    expect(before).not.toBe(text);
    const [loaded, expected] = [loadConfig(before, 'a.yaml'), loadConfig(text, 'a.yaml')];
    expect(expected).toMatchObject({ ok: true, warnings: [] });
    expect(loaded).toEqual({
      ...expected,
      warnings: [
        `a.yaml:${placeOf(before, lastOf(old))} ${old}: old name of ${now}; write ${lastOf(now)}, because Puntas ${OLD_KEYS_END} rejects the old name`,
      ],
    });
  });

  test.each(RENAMED)('beside its new one is refused, and says which to take out: %#', (text, old, now) => {
    const tree = parse(text) as Record<string, unknown>;
    const path = old.split('.');
    const section = path.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, tree);
    section[path.at(-1)!] = section[lastOf(now)];
    const both = stringify(tree, { aliasDuplicateObjects: false });
    expect(loadConfig(both, 'a.yaml')).toEqual({
      ok: false,
      warnings: [],
      errors: [
        `a.yaml:${placeOf(both, lastOf(old))} ${old}: old name of ${now}, which is also set; remove ${lastOf(old)}`,
      ],
    });
  });

  test('leaves what is wrong with its value where it stands, with the warning beside it', () => {
    const text = `${hedged}timing:\n  fenceMs: 5000\n  settleMs: soon\nwitness: { amount: 0.01 }\n`;
    const from = hedged.split('\n').length;
    const { ok, warnings, ...rest } = loadConfig(text, 'a.yaml');
    expect([ok, warnings.length]).toEqual([false, 3]);
    expect(rest).toEqual({
      errors: [
        `a.yaml:${from + 2}:13 timing.tradeReportDelayMaxMs: expected a number, found soon`,
        `a.yaml:${from + 3}:20 rfqReference.amount: expected text in quotes, found 0.01, an unquoted number; write amount: "0.01"`,
      ],
    });
    expect(loadConfig(`${hedged}timing: { fenceMs: 5000 }\n`, 'a.yaml')).toMatchObject({
      errors: [
        `a.yaml:${from}:20 timing.requestDelayMaxMs: expected more than exchange.requestTimeoutMs (5000), found 5000; a request may still be in flight after its timeout`,
      ],
    });
  });

  test('mistyped, or in another section, is told the new one', () => {
    const from = hedged.split('\n').length;
    for (const [line, error] of [
      ['timing: { setleMs: 1 }', ':11 timing.setleMs: unknown key; did you mean tradeReportDelayMaxMs?'],
      ['fenceMs: 1', ':1 fenceMs: unknown key; did you mean timing.requestDelayMaxMs?'],
      ['witnes: {}', ':1 witnes: unknown key; did you mean rfqReference?'],
      ['log: { level: warn, leanBps: 1 }', ':21 log.leanBps: unknown key; did you mean strategy.bpsPerDeviation?'],
    ] as const)
      expect(loadConfig(`${hedged}${line}\n`, 'a.yaml')).toEqual({
        ok: false,
        warnings: [],
        errors: [`a.yaml:${from}${error}`],
      });
  });

  test('of a strategy is unknown to another that never had it, with one line', () => {
    const text = textOf('config/sandbox.yaml').replace(/^strategy:\n/m, 'strategy:\n  leanBps: 2\n');
    expect(loadConfig(text, 'a.yaml')).toEqual({
      ok: false,
      warnings: [],
      errors: [expect.stringMatching(/^a\.yaml:\d+:3 strategy\.leanBps: unknown key/)],
    });
  });

  test('in the record of a run is one of now', () => {
    const loaded = loadConfig(`${hedged}rfqReference: { amount: '0.01', thinBps: 40 }\n`, 'a.yaml');
    if (!loaded.ok) throw new Error(loaded.errors.join());
    const { timing, hedge, rfqReference, ...others } = loaded.config;
    const { requestDelayMaxMs, tradeReportDelayMaxMs, ...times } = timing;
    const { venues, residual, quoteLifeMinMs, ...rules } = hedge!;
    const then = {
      ...others,
      timing: { ...times, fenceMs: requestDelayMaxMs, settleMs: tradeReportDelayMaxMs },
      hedge: { ...rules, ways: venues, rest: residual, marginMs: quoteLifeMinMs },
      witness: rfqReference,
    };
    expect(recordedConfig(JSON.stringify(then))).toEqual(loaded.config);
  });

  test('is no longer known by the version that says so', () => {
    const { version } = JSON.parse(textOf('package.json')) as { version: string };
    const numbers = (text: string) => text.split('.').reduce((sum, part) => sum * 1_000 + Number(part), 0);
    expect(numbers(version)).toBeLessThan(numbers(OLD_KEYS_END));
  });
});

test('nothing that ships has an old name', () => {
  for (const name of readdirSync(new URL('config/', root)).filter(
    each => each.endsWith('.yaml') && !NO_CONFIGURATION.includes(each),
  ))
    expect(loadConfig(textOf(`config/${name}`), name)).toMatchObject({ ok: true, warnings: [] });
});
