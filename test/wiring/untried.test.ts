/** Real orders on an exchange whose client has met test doubles only. */
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { Secret, type HedgeState } from '../../src/core/index.ts';
import type { Leftovers } from '../../src/live/state/journal.ts';
import type { VenueAccess } from '../../src/wiring/bot.ts';
import { accountName } from '../../src/wiring/elsewhere/access.ts';
import {
  assertTried,
  missingTrials,
  recordTrial,
  refuseUntried,
  untriedAccounts,
} from '../../src/app/untried/untried.ts';
import { refuseShortDelay, unreadKeys } from '../../src/wiring/venueRegistry.ts';
import { loadConfig, type Config } from '../../src/config.ts';
import { rowOf } from '../hedge/hedgeRows.ts';
import { Folders } from '../live/states.ts';

const LIVE = readFileSync(new URL('../../config/live.yaml', import.meta.url), 'utf8');
const configOf = (lines: string) => {
  const loaded = loadConfig(LIVE.replace('kind: remote', `kind: remote${lines}`), 'my.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
};

test.each([
  ['', null],
  ['\n  venue: bitso', null],
  ['\n  venue: binance\n  acceptUntried: binance', null],
  ['\n  venue: binance', 'add acceptUntried: binance to the section exchange'],
  ['\n  venue: binance\n  acceptUntried: kraken', 'add acceptUntried: binance to the section exchange'],
] as const)('%j is refused: %s', (lines, says) => {
  const run = () => refuseUntried(configOf(lines));
  if (says === null) expect(run).not.toThrow();
  else expect(run).toThrow(says);
});

test.each([
  ['kraken', 900, 2_000, 'timing.requestDelayMaxMs: expected at least 4000, found 2000'],
  ['kraken', 900, 4_000, null],
  ['kraken', 5_000, 6_000, null],
  ['binance', 900, 1_000, null],
  ['bitso', 900, 1_000, null],
] as const)('%s with a timeout of %i ms and a delay of at most %i ms is refused: %s', (venue, timeout, delay, says) => {
  const { exchange, timing, ...rest } = configOf(`\n  venue: ${venue}`);
  const config = {
    ...rest,
    exchange: { ...exchange, requestTimeoutMs: timeout },
    timing: { ...timing, requestDelayMaxMs: delay },
  };
  const run = () => refuseShortDelay(config);
  if (says === null) expect(run).not.toThrow();
  else expect(run).toThrow(says);
});

const ACCESS = {
  ...{ restUrl: 'https://api.example', key: 'a key', secret: new Secret('a secret'), speed: 1 },
  elsewhere: {
    ...{ venue: 'kraken', book: 'btc_usd', restUrl: 'https://there.example', key: 'there' },
    secret: new Secret('another secret'),
  },
};
const AT_BOTH = configOf('\n  venue: binance\n  acceptUntried: binance');
/** A bot that quotes on one untried exchange and hedges on another, with its state in `dir`. */
const botIn = (dir: string): Config => ({
  ...AT_BOTH,
  state: { dir },
  elsewhere: { kind: 'remote', venue: 'kraken', acceptUntried: 'kraken', book: 'btc_usd' } as never,
  hedge: { elsewhere: {} } as never,
});
const NOTHING: Pick<Leftovers, 'ledger' | 'hedges'> = { ledger: null, hedges: [] };
const sectionsMissing = (dir: string, access: VenueAccess = ACCESS, left = NOTHING): readonly string[] =>
  missingTrials(botIn(dir), access, left).map(({ section }) => section);

describe('a recorded trial order', () => {
  const folders = new Folders();
  afterAll(() => folders.clear());

  test('permits real orders of exactly its exchange and account, after any restart', () => {
    const accounts = fc.record({
      name: fc.constantFrom('binance', 'kraken', 'bitso'),
      restUrl: fc.constantFrom('https://api.example', 'https://there.example', 'https://other.example'),
      key: fc.constantFrom('a key', 'there', 'another'),
      section: fc.constantFrom('exchange' as const, 'elsewhere' as const),
    });
    fc.assert(
      fc.property(fc.array(accounts, { maxLength: 6 }), recorded => {
        const dir = folders.fresh();
        for (const { name, section, ...of } of recorded)
          recordTrial(dir, { name, section, account: accountName(of) }, 'accepted', 7);
        const has = (name: string, { restUrl, key }: Pick<VenueAccess, 'restUrl' | 'key'>): boolean =>
          recorded.some(of => of.name === name && of.restUrl === restUrl && of.key === key);
        expect(sectionsMissing(dir)).toEqual([
          ...(has('binance', ACCESS) ? [] : ['exchange']),
          ...(has('kraken', ACCESS.elsewhere) ? [] : ['elsewhere']),
        ]);
      }),
      { numRuns: 30 },
    );
  });

  test('holds neither key nor secret, and is refused if it was changed or another user could have written it', () => {
    const dir = folders.fresh();
    const [of] = untriedAccounts(botIn(dir), ACCESS);
    recordTrial(dir, of!, 'accepted', 7);
    const [name] = readdirSync(dir);
    const path = join(dir, name!);
    const text = readFileSync(path, 'utf8');
    expect(`${name} ${text}`).not.toMatch(/a key|a secret/);
    expect(JSON.parse(text)).toMatchObject({ at: 7, exchange: 'binance', order: 'accepted' });
    expect(sectionsMissing(dir)).toEqual(['elsewhere']);
    writeFileSync(path, text.replace('"binance"', '"kraken"'));
    expect(sectionsMissing(dir)).toEqual(['exchange', 'elsewhere']);
    writeFileSync(path, text);
    chmodSync(path, 0o622);
    expect(sectionsMissing(dir)).toEqual(['exchange', 'elsewhere']);
    expect(() => assertTried(botIn(dir), ACCESS, NOTHING as Leftovers, 'puntas doctor')).toThrow(
      /^exchange: no passed trial order at binance with this address and API key is recorded in \S+ \(.*writable by other users.*\); run puntas doctor, then start again$/,
    );
  });

  test('is not needed on paper, nor by a bot whose state has fills here and a completed hedge of this account there', () => {
    const dir = folders.fresh();
    expect(sectionsMissing(dir, { ...ACCESS, paper: {} as never })).toEqual([]);
    const booked = (currency: string, trades: bigint) =>
      ({ causes: new Map([[currency, { trades }]]) }) as unknown as Leftovers['ledger'];
    const hedge = (key: string, state: HedgeState) =>
      rowOf({ state, elsewhere: { account: accountName({ ...ACCESS.elsewhere, key }) } as never });
    const left = (ledger: Leftovers['ledger'], hedges: Leftovers['hedges'] = []) =>
      sectionsMissing(dir, ACCESS, { ledger, hedges });
    expect(left(booked('btc', -5n))).toEqual(['elsewhere']);
    expect(left(booked('btc', 0n))).toEqual(['exchange', 'elsewhere']);
    expect(left(booked('btc@kraken', 5n))).toEqual(['exchange', 'elsewhere']);
    expect(left(null, [hedge('there', 'completed')])).toEqual(['exchange']);
    expect(left(null, [hedge('there', 'failed'), hedge('another', 'completed')])).toEqual(['exchange', 'elsewhere']);
  });
});

test('the embedded exchange needs no word', () => {
  expect(() => refuseUntried({ exchange: { kind: 'embedded' } as never })).not.toThrow();
});

const ADDRESSES = '\n  rfqUrl: https://rfq.example\n  webhookUrl: https://webhooks.example';
test.each([
  ['', []],
  [ADDRESSES, []],
  ['\n  venue: kraken', []],
  [`\n  venue: kraken${ADDRESSES}`, ['exchange.rfqUrl', 'exchange.webhookUrl']],
  [`\n  venue: binance${ADDRESSES}`, ['exchange.rfqUrl', 'exchange.webhookUrl']],
])('of %j, a key that this exchange does not read is named', (lines, keys) => {
  const has = (line: string): unknown =>
    expect.stringMatching(new RegExp(`^${line}: has no effect with exchange.venue \\w+;`));
  expect(unreadKeys(configOf(lines))).toEqual(keys.map(has));
  const { exchange, ...rest } = configOf(lines);
  const signed = unreadKeys({ ...rest, exchange: { ...exchange, authentication: 'headers' } });
  const isOther = lines.includes('venue: ');
  expect(signed).toEqual([...(isOther ? ['exchange.authentication'] : []), ...keys].map(has));
});
