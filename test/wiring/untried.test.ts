/** Real orders on an exchange whose client has met test doubles only. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { refuseUntried } from '../../src/wiring/venueRegistry.ts';
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
  ['\n  venue: binance', 'add acceptUntried: binance below exchange'],
  ['\n  venue: binance\n  acceptUntried: kraken', 'add acceptUntried: binance below exchange'],
] as const)('%j is refused: %s', (lines, says) => {
  const run = () => refuseUntried(configOf(lines));
  if (says === null) expect(run).not.toThrow();
  else expect(run).toThrow(says);
});

test('the embedded exchange needs no word', () => {
  expect(() => refuseUntried({ exchange: { kind: 'embedded' } as never })).not.toThrow();
});
