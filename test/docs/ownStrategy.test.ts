import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { strategyVerdicts } from '../../src/app/develop/strategyCheck.ts';
import { readTradedConfig } from '../../src/wiring/configFile.ts';
import { amount } from '../../src/core/index.ts';
import { fillModelIn, kindOf, strategyFileOf } from '../../strategies/index.ts';
import { btcMxn } from '../core/market.ts';
import { instrument, viewOf } from '../strategies/examples.ts';
import { folderWith } from '../strategies/ownFile.ts';
import { blocksOn, ownFillModelOnPage, ownStrategyOnPage } from './ownStrategy.ts';

test('the strategy file of docs/strategy-files.md obeys every law, and a configuration selects it', () => {
  const code = ownStrategyOnPage();
  const verdicts = strategyVerdicts(strategyFileOf('my-strategy.ts', code), null);
  expect(verdicts.filter(({ violation }) => violation !== null)).toEqual([]);
  expect(readTradedConfig(folderWith(code, { halfSpreadBps: 16, amount: '0.006' }).yaml).strategy).toMatchObject({
    code,
  });
});

test('the line with a history on docs/strategy-files.md gives the strategy its last taker at the first quote', () => {
  const code = ownStrategyOnPage();
  const line = blocksOn('docs/strategy-files.md')[1]!;
  const firstTakerOf = (text: string): number => {
    const { strategy: section } = readTradedConfig(folderWith(text, { halfSpreadBps: 16, amount: '0.006' }).yaml);
    const strategy = kindOf(section).make(section, instrument);
    const at = viewOf().at - 1_000;
    strategy.history?.({ since: 0, trades: [{ at, price: viewOf().lastTrade, amount: amount(1), side: 'buy' }] });
    return strategy.quote(viewOf()).bids[0]!.why.find(({ name }) => name === 'taker')!.ticks;
  };
  expect(firstTakerOf(code)).toBe(0);
  expect(firstTakerOf(code.replace('  make(', `${line}  make(`))).toBeGreaterThan(0);
});

test('the fill model file of docs/fill-models.md places orders and splits cancels as its comments say', () => {
  const queue = fillModelIn('my-fills.ts', ownFillModelOnPage())(btcMxn, () => 0.5);
  expect(queue.ahead({ displayed: 30, amount: 10, isShown: true })).toBe(40);
  expect(queue.canceledBehind(1, 3)).toBe(0.75);
});

test('the table of docs/development/strategies.md has each field of a view, and no other', () => {
  const types = readFileSync('src/core/quoting/strategy.ts', 'utf8');
  const [, body] = /export type View = \{([^]*?)\n\};/.exec(types)!;
  const fields = [...body!.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name!);
  const page = readFileSync('docs/development/strategies.md', 'utf8');
  const [, table] = /\| field of `view`.*\n.*\n([^]*?)\n\n/.exec(page)!;
  const rows = table!.split('\n').flatMap(row => [...row.split('|')[1]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
  expect(rows.sort()).toEqual(fields.sort());
  expect(fields.length).toBeGreaterThan(10);
});
