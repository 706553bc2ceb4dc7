/** Changes of a running bot from a page: parameters of its strategy file, limits, what is refused, and one of several books. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { SetAsk } from '../../../src/app/actions/actions.ts';
import { executeAction } from '../../../src/app/actions/executeAction.ts';
import { shownParameters } from '../../../src/app/console/consoleActions.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { changedOwn, folderWith, OWN_STRATEGY } from '../../strategies/ownFile.ts';
import { worldOf } from '../../live/world.ts';
import { botOn } from './botOn.ts';

/** A parameter in a section, with a default; a text with a rule of its own. */
const NESTED = changedOwn(
  'takerBps: z.number()',
  "shift: z.strictObject({ bps: z.number().default(3), side: z.enum(['buy', 'sell']).default('buy') }).prefault({}),\n  takerBps: z.number()",
);

const start = async (seed: number, code: string) => {
  const world = worldOf(seed, {}, 'sandbox');
  const { dir, yaml: file } = folderWith(code);
  const tree = parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, stringify({ ...tree, state: { dir: world.stateDir } }));
  const { running, passing, bot, preview } = await botOn(world, file);
  let n = 0;
  const ask = (key: string, value: string | null): SetAsk => ({
    ...{ id: `s-${++n}`, action: 'set', reason: 'a calm market', by: 'ann', via: 'console', key, value },
  });
  return {
    ...{ dir, file, bot },
    text: () => readFileSync(file, 'utf8'),
    preview: (key: string, value: string | null) => passing(preview(ask(key, value))),
    set: (key: string, value: string | null) => passing(executeAction(bot, ask(key, value), world.clock)),
    listed: () => new Map(shownParameters(bot).parameters.map(one => [one.key, one])),
    end: async () => {
      expect(await running.stop()).toMatchObject({ left: [], failure: null });
      world.end();
    },
  };
};

test('parameters of a strategy file are listed with their defaults, previewed as quotes, changed and undone', async () => {
  const { file, bot, text, preview, set, listed, end } = await start(76, NESTED);
  const before = text();
  expect(listed().get('strategy.halfSpreadBps')).toEqual({
    ...{ key: 'strategy.halfSpreadBps', value: '16', unit: 'bps', direction: 'free', help: 'Parameter of ./own.ts.' },
  });
  expect(listed().get('strategy.takerBps')).toMatchObject({ value: '2' });
  expect(listed().get('strategy.shift.bps')).toMatchObject({ value: '3', unit: 'bps' });
  expect(listed().get('strategy.shift.side')).toMatchObject({ value: 'buy' });
  const keys = shownParameters(bot).parameters.map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(key).not.toMatch(/^strategy\.(?:name|file|sha256|historyTape|code|tolerance)\b/);

  const lines = await preview('strategy.levels', '1');
  expect(lines[0]).toBe('strategy.levels: 2 -> 1');
  expect(lines[2]).toMatch(/^quotes now, and with the change \(book at /);
  // The quotes now depend on the moment of the recording's end, which the machine's speed chooses.
  const then = lines.flatMap(line => /^ {2}((?:ask|bid) \d) +(?:\S+ at \d+|-) +\S+ at \d+$/.exec(line)?.[1] ?? []);
  expect([lines[3], then]).toEqual([expect.stringMatching(/^ +now +then$/), ['ask 1', 'bid 1']]);
  expect(text()).toBe(before);
  for (const [key, value, from] of [
    ['strategy.amount', '0.005', '0.006'],
    ['strategy.takerBps', '9', '2'],
    ['strategy.shift.side', 'sell', 'buy'],
  ] as const) {
    const done = await set(key, value);
    expect(done).toMatchObject({ end: 'done', undo: { key, value: from } });
    expect(done.lines[0]).toMatch(new RegExp(`^${key}: "?${from}"? -> "?${value}"?$`));
    expect(listed().get(key)).toMatchObject({ value });
    expect((await set(key, from)).end).toBe('done');
    expect(listed().get(key)).toMatchObject({ value: from });
  }
  const removed = await set('strategy.takerBps', null);
  expect(removed.end).toBe('done');
  expect(removed.lines.filter(line => line.startsWith('strategy.takerBps'))).toHaveLength(1);
  expect((await preview('limits.orderValueMax', '40000')).join('\n')).toMatch(/^ {2}ask 1 .* at \d+$/m);
  expect((await set('limits.orderValueMax', '40000')).end).toBe('done');
  await expect(set('limits.orderValueMax', '60000')).rejects.toThrow(/can only tighten a limit/);
  expect(readFileSync(file, 'utf8')).toContain('orderValueMax: ');
  await end();
});

test('a value that the strategy file refuses, and a file that the bot does not run, change nothing', async () => {
  const { dir, text, preview, set, end } = await start(77, OWN_STRATEGY);
  const before = text();
  const refused = async (key: string, value: string | null, why: RegExp) => {
    await expect(preview(key, value)).rejects.toThrow(why);
    expect(text()).toBe(before);
  };
  await refused('strategy.takerBps', '51', /strategy\.takerBps: .*50/);
  await refused('strategy.takerBps', 'wide', /strategy\.takerBps: .*number/);
  for (const key of ['strategy.file', 'strategy.sha256', 'strategy.historyTape', 'strategy.name'])
    await refused(key, './other.ts', /cannot be changed from a page/);
  await refused('strategy.unknown', '1', /the last run has no such parameter/);
  // The bot decides also without a preview, and the file is restored.
  expect(await set('strategy.takerBps', '51')).toMatchObject({
    end: 'refused',
    lines: expect.arrayContaining([
      expect.stringMatching(/takerBps/),
      expect.stringMatching(/was restored/),
    ]) as unknown,
  });
  expect(text()).toBe(before);
  const marker = join(dir, 'was-run');
  const mark = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(marker)}, '');\n`;
  writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}${mark}`);
  await refused('strategy.takerBps', '9', /the last run has no such parameter/);
  await refused('strategy.halfSpreadBps', '9', /changes that the bot has not applied[^]*strategy\.name/);
  await expect(set('strategy.halfSpreadBps', '9')).rejects.toThrow(/changes that the bot has not applied/);
  expect([text(), existsSync(marker)]).toEqual([before, false]);
  await end();
});

test('a change of one of several books is previewed with the quotes of each book that it changes, in its own units', async () => {
  const world = worldOf(78, {}, 'desk');
  const folder = mkdtempSync(join(tmpdir(), 'puntas-books-'));
  const file = join(folder, 'my.yaml');
  const tree = parse(readFileSync(shippedConfig('desk'), 'utf8')) as object;
  writeFileSync(file, stringify({ ...tree, metrics: { port: 0 }, state: { dir: world.stateDir } }));
  const { running, passing, preview } = await botOn(world, file);
  await world.clock.advance(20_000);
  const open = world.other().get<{ book: string; price: string }[]>('GET', '/api/v3/open_orders');
  for (const [book, changed] of [
    ['eth_mxn', ['eth_mxn']],
    ['btc_usd', ['btc_mxn', 'btc_usd']],
  ] as const) {
    const ask = { id: `of-${book}`, reason: 'a calm market', by: 'ann', via: 'console', book } as const;
    const lines = await passing(preview({ ...ask, action: 'set', key: 'strategy.halfSpreadBps', value: '24' }));
    const heads = lines.flatMap((line, i) => (/^[a-z]+_[a-z]+:$/.test(line) ? [i] : []));
    expect(heads.map(i => lines[i])).toEqual(changed.map(one => `${one}:`));
    for (const [n, i] of heads.entries()) {
      const rows = lines.slice(i + 1, heads[n + 1]);
      // The price of the best ask and bid, now and then.
      const [now, then] = [0, 1].map(column =>
        ['ask 1', 'bid 1'].map(name => {
          const cells = rows.find(row => row.startsWith(`  ${name} `))!.matchAll(/\S+ at (\S+)/g);
          return [...cells].map(([, price]) => price!)[column]!;
        }),
      ) as [string[], string[]];
      const own = open.filter(order => order.book === changed[n]);
      const halfBps = ([askPrice, bidPrice]: string[]) => {
        const mid = (Number(askPrice) + Number(bidPrice)) / 2;
        return ((Number(askPrice) - mid) / mid) * 10_000;
      };
      const decimals = own[0]!.price.split('.')[1]?.length ?? 0;
      for (const price of [...now, ...then]) {
        expect(Number(price) / Number(own[0]!.price)).toBeCloseTo(1, 1);
        expect(price.split('.')[1]?.length ?? 0).toBe(decimals);
      }
      expect([halfBps(now) < 20, halfBps(then) > 20]).toEqual([true, true]);
    }
  }
  await running.stop();
  world.end();
  rmSync(folder, { recursive: true });
});
