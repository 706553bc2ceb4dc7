import { describe, expect, test } from 'vitest';
import { changedBook, configChanges, type Config } from '../../src/config.ts';
import { sandboxConfig } from '../live/world.ts';

type BookSections = NonNullable<Config['books']>[number];

const changesOf = (changes: Parameters<typeof sandboxConfig>[0]) =>
  configChanges(sandboxConfig(), sandboxConfig(changes)).map(({ key, takesEffect }) => `${key} ${takesEffect}`);

describe('what differs between two configurations', () => {
  test('is nothing between a configuration and itself', () => expect(changesOf({})).toEqual([]));

  test('is told by key, with its values, whichever of the two has it', () => {
    const plain = sandboxConfig();
    const other = sandboxConfig({ strategy: { halfSpreadBps: 13 }, inventory: { target: '1.2' } });
    expect(configChanges(plain, other)).toEqual([
      { key: 'strategy.halfSpreadBps', from: '16', to: '13', takesEffect: 'reload' },
      { key: 'inventory.target', from: JSON.stringify(plain.inventory.target), to: '"1.2"', takesEffect: 'reload' },
    ]);
    expect(configChanges(other, { ...other, inventory: {} })).toMatchObject([{ from: '"1.2"', to: null }]);
  });

  test.each([
    [{ log: { level: 'debug' } }, 'log.level live'],
    [{ strategy: { levels: 1 } }, 'strategy.levels reload'],
    [{ timing: { decideEveryMs: 500 } }, 'timing.decideEveryMs reload'],
    [{ sentinel: { required: true } }, 'sentinel.required reload'],
    [{ sentinel: { ttlMs: 40_000 } }, 'sentinel.ttlMs elsewhere'],
    [{ backtest: { desk: { delayMaxMs: 9_000 } } }, 'backtest.desk.delayMaxMs elsewhere'],
    [{ instance: 'other' }, 'instance restart'],
    [{ exchange: { budgets: { publicPerMinute: 50 } } }, 'exchange.budgets.publicPerMinute restart'],
    [{ state: { dir: './elsewhere' } }, 'state.dir restart'],
  ])('of %j is taken up as %s', (changes, told) => expect(changesOf(changes)).toEqual([told]));

  test('of a section that comes is each of its keys', () => {
    expect(changesOf({ markouts: {} })).toContain('markouts.halfLifeMs reload');
    expect(changesOf({ webhooks: { port: 1 } })).toContain('webhooks.port restart');
  });
});

describe('what differs between two lists of books', () => {
  const desk = sandboxConfig({}, 'desk');
  const [btc, eth, usd] = desk.books! as [BookSections, BookSections, BookSections];
  const withBooks = (...books: BookSections[]): Config => ({ ...desk, books });
  const told = (to: Config) => configChanges(desk, to).map(({ key, takesEffect }) => `${key} ${takesEffect}`);

  test('is told by book, whatever its place in the list', () => {
    expect(told(desk)).toEqual([]);
    expect(told(withBooks(btc, usd))).toEqual(['books.eth_mxn reload']);
    expect(told(withBooks(btc, usd, eth))).toEqual(['books reload']);
    expect(told(withBooks(eth, btc, usd))).toEqual(['book restart', 'books reload']);
    const wide = { ...eth, strategy: { ...eth.strategy!, halfSpreadBps: 40 } } as BookSections;
    expect(told(withBooks(btc, usd, wide))).toEqual(['books reload', 'books.eth_mxn.strategy.halfSpreadBps reload']);
    expect(told({ ...desk, instance: 'other' })).toEqual(['instance restart']);
  });

  test('is a book that comes or goes, also between one book and several', () => {
    const { books: _, ...alone } = desk;
    const found = [configChanges(alone, desk), configChanges(desk, alone)].map(changes => changes.map(changedBook));
    expect(found).toEqual([true, false].map(isAdded => ['eth_mxn', 'btc_usd'].map(book => ({ book, isAdded }))));
  });
});
