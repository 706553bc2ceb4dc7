/** Tests of keys that need sources of the reference price. */
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readFileSync } from 'node:fs';
import { loadConfig } from '../../src/config.ts';

const SANDBOX = parse(readFileSync(new URL('../../config/sandbox.yaml', import.meta.url), 'utf8')) as object;
const SOURCES = [{ name: 'far', books: ['btc_usd', 'usd_mxn'], from: 'exchange', staleAfterMs: 120_000 }];

function errorsWith(reference: object, leave: object): readonly string[] {
  const fairValue = { reference: { leave } };
  const loaded = loadConfig(stringify({ ...SANDBOX, reference, fairValue }), 'my.yaml');
  return loaded.ok ? [] : loaded.errors;
}

test('the cost of hedging at a source needs sources, and the name of one of them', () => {
  expect(errorsWith({ sources: SOURCES, everyMs: 20_000 }, { source: 'far' })).toEqual([]);
  expect(errorsWith({ sources: SOURCES, everyMs: 20_000 }, { source: 'fra' }).join()).toMatch(
    /fairValue\.reference\.leave\.source: expected the name of one of reference\.sources, far, found fra/,
  );
  expect(errorsWith({ books: ['btc_usd', 'usd_mxn'] }, {}).join()).toMatch(
    /fairValue\.reference\.leave: needs reference\.sources/,
  );
});
