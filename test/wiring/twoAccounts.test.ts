/** One account on both exchanges is refused: each hedge there would also be a trade of the bot's own exchange. */
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { expect, test } from 'vitest';
import { check } from '../../src/app/doctor/check.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import { Secret, VirtualClock, type Outcome } from '../../src/core/index.ts';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { assertTwoAccounts, oneAccountProblem } from '../../src/wiring/elsewhereHedging.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { clientOn, endOf, listAnswer } from '../exchange/everyVenue.ts';

/** Configuration of hedges from one book of Bitso to another. */
function oneVenueConfig(change: (tree: Record<string, Record<string, unknown>>) => void = () => undefined): Config {
  const tree = parse(readFileSync(shippedConfig('elsewhere'), 'utf8')) as Record<string, Record<string, unknown>>;
  const restUrl = 'https://example.com';
  tree['exchange'] = { kind: 'remote', restUrl };
  tree['elsewhere'] = { kind: 'remote', venue: 'bitso', book: 'btc_usdt', restUrl };
  change(tree);
  const read = loadConfig(stringify(tree), 'my.yaml');
  if (!read.ok) throw new Error(read.errors.join('\n'));
  return read.config;
}

const account = (read: Outcome<string>) => ({
  account: { id: () => Promise.resolve(read), hasTrade: () => Promise.reject(new Error('not asked')) },
});
const numbered = (value: string) => account({ kind: 'done', value });
const accessOf = (key: string, there: string, venue = 'bitso') => ({
  ...{ restUrl: 'https://example.com', key, secret: new Secret('s'), speed: 1 },
  elsewhere: { ...{ venue, book: 'btc_usdt', restUrl: 'https://example.com/' }, key: there, secret: new Secret('s') },
});
const silent = account({ kind: 'unknown', reason: 'no answer' });
const tooLow = account({ kind: 'refused', code: '0207', message: 'nonce', status: 400, meaning: 'nonce' });
const forbidden = account({ kind: 'refused', code: '0210', message: 'no permission', status: 403 });
const unsent = account({ kind: 'refused', code: 'not-sent', message: 'connection refused' });
const throttled = account({ kind: 'refused', code: '0801', message: 'too many requests', status: 429, mayPass: true });

test.each([
  [
    'one key',
    accessOf('a', 'a'),
    numbered('1'),
    numbered('2'),
    'the API key is the same as the key of the section exchange',
    false,
  ],
  [
    'two keys of an account',
    accessOf('a', 'b'),
    numbered('1'),
    numbered('1'),
    'the API key belongs to account 1 at bitso',
    false,
  ],
  ['two accounts', accessOf('a', 'b'), numbered('1'), numbered('2'), null, false],
  ['equal numbers at two venues', accessOf('a', 'a', 'binance'), numbered('1'), numbered('1'), null, false],
  ['no access', { key: 'a' }, numbered('1'), numbered('1'), null, false],
  [
    'a silent exchange',
    accessOf('a', 'b'),
    numbered('1'),
    silent,
    'the account number of elsewhere was not read',
    true,
  ],
  ['a nonce too low', accessOf('a', 'b'), tooLow, numbered('1'), 'the account number of exchange', true],
  ['a request that was not sent', accessOf('a', 'b'), unsent, numbered('1'), 'the account number of exchange', true],
  ['a rate limit', accessOf('a', 'b'), throttled, numbered('1'), 'the account number of exchange', true],
  ['a key without rights', accessOf('a', 'b'), forbidden, numbered('1'), 'the account number of exchange', false],
] as const)('%s: %#', async (_, access, home, there, says, mayPass) => {
  const problem = await oneAccountProblem(oneVenueConfig(), access, home, there);
  if (says === null) expect(problem).toBeNull();
  else expect(problem).toMatchObject({ text: expect.stringContaining(says) as string, mayPass });
});

test.each([
  ['1', '2', null],
  ['1', '1', 'the API key belongs to account 1 at bitso'],
])('one lost answer of each exchange about its account number (%s, %s) is repeated', async (here, there, says) => {
  const once = (value: string) => {
    const reads: Outcome<string>[] = [
      { kind: 'unknown', reason: 'no answer' },
      { kind: 'done', value },
    ];
    return { account: { ...numbered(value).account, id: () => Promise.resolve(reads.shift()!) } };
  };
  const problem = await oneAccountProblem(oneVenueConfig(), accessOf('a', 'b'), once(here), once(there));
  expect(problem?.text ?? null).toEqual(says === null ? null : expect.stringContaining(says));
});

test('is refused only with hedges there, so a reload that adds the hedges is refused too', async () => {
  const config = oneVenueConfig();
  const problem = await oneAccountProblem(config, accessOf('a', 'a'), numbered('1'), numbered('1'));
  expect(() => assertTwoAccounts(config, problem)).toThrow('set PUNTAS_ELSEWHERE_API_KEY');
  expect(() => assertTwoAccounts({ ...config, hedge: undefined }, problem)).not.toThrow();
  expect(() => assertTwoAccounts(config, null)).not.toThrow();
});

test('puntas check refuses it before any request', async () => {
  const read = check(oneVenueConfig(), accessOf('a', 'a'), new VirtualClock(), 1, undefined);
  await expect(read).rejects.toThrow('both sections use one account at bitso; every hedge would count twice');
});

/** Answers with an account number, by exchange. */
const ACCOUNTS: Readonly<Record<string, (n: number) => object>> = {
  bitso: n => ({ success: true, payload: { client_id: String(n), status: 'active' } }),
  binance: n => ({ uid: n, balances: [] }),
  kraken: n => ({ error: [], result: { iban: `AA0${n} N84G WOAK NMOI` } }),
};
const pairs = VENUES.flatMap(home => VENUES.map(there => ({ home, there })));

test.each(pairs)(
  'with keys of $home.name and $there.name, one account is refused by every client, and two accounts are not',
  async ({ home, there }) => {
    const config = oneVenueConfig(tree => {
      tree['exchange'] = { ...tree['exchange'], venue: home.name };
      tree['elsewhere'] = { ...tree['elsewhere'], venue: there.name };
    });
    for (const [here, other] of [
      [1, 2],
      [1, 1],
    ] as const) {
      const clientOf = (venue: typeof home, n: number) =>
        clientOn(venue, request =>
          Promise.resolve(
            listAnswer(request) ?? { status: 200, headers: {}, body: JSON.stringify(ACCOUNTS[venue.name]!(n)) },
          ),
        );
      const [own, placed] = [clientOf(home, here), clientOf(there, other)];
      const reading = oneAccountProblem(config, accessOf('a', 'b', there.name), own.client, placed.client);
      await Promise.all([endOf(own.clock, reading), endOf(placed.clock, reading)]);
      const problem = await reading;
      expect(problem === null).toBe(home !== there || here !== other);
      if (problem !== null) expect(problem.text).toContain(`at ${home.name}, which the section exchange also uses`);
    }
  },
);

test('two keys at an exchange that does not show the account of a key are refused', async () => {
  for (const [home, there] of [
    [{}, {}],
    [numbered('1'), {}],
    [numbered('1'), undefined],
  ] as const)
    expect(await oneAccountProblem(oneVenueConfig(), accessOf('a', 'b'), home, there)).toEqual({
      text: 'elsewhere: cannot prove that the sections exchange and elsewhere use two accounts at bitso, because bitso does not show which account a key belongs to; hedge on another exchange, or remove hedge.elsewhere',
      mayPass: false,
    });
});
