/** Real orders on an exchange whose client has met test doubles only. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { refuseShortDelay, refuseUntried, unreadKeys } from '../../src/wiring/venueRegistry.ts';
import { loadConfig } from '../../src/config.ts';

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
