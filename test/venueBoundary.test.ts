import { expect, test } from 'vitest';
import { meaningOf } from '../src/exchange/bitso/wire/errorCodes.ts';
import { sourcesIn } from './imports.ts';

/** Where one exchange may be spoken: its client, and the embedded exchange, which speaks the same interface. */
const SPEAKS = /^src\/(?:exchange|sandbox)\//;

/** What only one exchange says, and the files besides that may say it, each with its reason. */
const WORDS: readonly (readonly [what: string, word: RegExp, also: RegExp])[] = [
  // The registry; what a user of it writes in a configuration; formats of recordings that others made of it; names of shipped files.
  [
    'its name',
    /bitso(?!f)/i,
    /^src\/(?:wiring\/(?:venueRegistry|shipped\/shippedFiles)|config\/sections\/exchange|tape\/import\/\w+|ccxt\/ccxtThread)\.ts$/,
  ],
  ['a code of its errors', /(['"`])0[1-9]\d\d\1/, /^$/],
  // A replay asks the desks of the embedded exchange without a wire between them.
  [
    'a word of its errors',
    /['"`](?:quote_(?:al|not|can)|rfq_conv|invalid_(?:so|ta|pr|pa)|insufficient_|forbidden_)\w+['"`]/,
    /^backtest\/exchange\/desk\.ts$/,
  ],
  ['how long an order lasts', /goodtillcancelled|fillorkill|immediateorcancel|postonly/, /^$/],
  ['a list of its ledger', /['"`]fundings?['"`]/, /^$/],
  ['a path', /\bv[34]\\?\/[a-z]|rfq\/v1/, /^$/],
  [
    'a field of its replies',
    /['"`](?:origin_ids?|time_in_force|unfilled_amount|updated_at)['"`]/,
    /^src\/tape\/import\/\w+\.ts$/,
  ],
  // The registry; names of shipped files; what a user of it writes in a configuration; recordings that its users made.
  [
    'the name of Binance',
    /binance/i,
    /^src\/(?:wiring\/(?:venueRegistry|shipped\/shippedFiles)|config\/sections\/exchange|tape\/import\/(?:binance|find)|ccxt\/(?:ccxtMarket|ccxtThread|priceSource))\.ts$/,
  ],
  ['a code of Binance', /['"`]-(?:1[0-2]|20)\d\d(?::[\w ]+)?['"`]/, /^$/],
  [
    'a word of Binance',
    /\b(?:recvWindow|origClientOrderId|newClientOrderId|newOrderRespType|executedQty|myTrades|exchangeInfo)\b/,
    /^$/,
  ],
  ['a filter or order of Binance', /\b(?:LIMIT_MAKER|PRICE_FILTER|LOT_SIZE|MIN_NOTIONAL|PERCENT_PRICE)\b|X-MBX/, /^$/],
  ['where its symbols are cut', /split\('_'\)/, /^src\/(?:core\/model\/bookName|tape\/import\/gemini)\.ts$/],
];

/** Folder in which Kraken's words may stand: its client. */
const SPEAKS_KRAKEN = /^src\/exchange\/kraken\//;
/** Words of Kraken alone, and the other files that may have them, each with its reason. */
const KRAKEN_WORDS: typeof WORDS = [
  // The registry, and the export for it; importers of recordings that others made of it; an id of ccxt as an example.
  [
    'its name',
    /kraken/i,
    /^src\/(?:wiring\/venueRegistry|exchange\/index|config\/sections\/(?:exchange|reference)|cli\/terminal\/examples|tape\/import\/\w+)\.ts$/,
  ],
  ['a text of its errors', /E(?:Order|API|General|Service|Query|Trade|Funding|Auth|Account|Session|BM):/, /^$/],
  ['a field of its requests', /\b(?:cl_ord_id|oflags|timeinforce|closetime|consolidate_taker)\b/, /^$/],
  ['a path', /(?:Add|Cancel|Open|Closed|Query)Orders?\b'|TradesHistory|BalanceEx|GetApiKeyInfo/, /^$/],
  ['a name of a currency', /['"`](?:XXBT|ZUSD|XBT(?:\/USD)?|XDG)['"`]/, /^$/],
  // Without regard to case; the embedded exchange has a function of the same name.
  [
    'a word',
    /\b(?:cl_ord_id|AddOrder|CancelOrder|ClosedOrders|TradesHistory|QueryOrders|AssetPairs)\b|['"`]API-Sign['"`]/i,
    /^src\/sandbox\/binance\/tradingRoutes\.ts$/,
  ],
];

const files = ['src', 'strategies', 'backtest'].flatMap(sourcesIn);

const breaches = (word: RegExp, also: RegExp, speaks = SPEAKS) =>
  files
    .filter(({ path }) => !speaks.test(path) && !also.test(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, i) => (word.test(line) ? [`${path}:${i + 1} ${line.trim()}`] : [])),
    );

test.each(WORDS)('%s is said in its folder alone', (_, word, also) => {
  expect(breaches(word, also)).toEqual([]);
});

test.each(KRAKEN_WORDS)('of Kraken, %s is said in its folder alone, and would be found', (_, word, also) => {
  expect(breaches(word, also, SPEAKS_KRAKEN)).toEqual([]);
  expect(files.some(({ path, text }) => SPEAKS_KRAKEN.test(path) && word.test(text))).toBe(true);
});

test.each(WORDS)('%s would be found: it is said there', (_, word) => {
  expect(files.some(({ path, text }) => SPEAKS.test(path) && text.split('\n').some(line => word.test(line)))).toBe(
    true,
  );
});

test('no other file has a code of its whole table as a text of its own', () => {
  const codes = ({ text }: { readonly text: string }) =>
    [...text.matchAll(/(['"`])(\w+)\1/g)].map(([, , word]) => word!).filter(word => meaningOf(word) !== undefined);
  const told = files
    .filter(({ path }) => !SPEAKS.test(path))
    .flatMap(file => codes(file).map(code => `${file.path}: ${code}`));
  expect(told.sort()).toEqual([
    // The desks of the embedded exchange without a wire between, as above.
    'backtest/exchange/desk.ts: invalid_target_currency',
    'backtest/exchange/desk.ts: rfq_conversion_not_found',
    'backtest/exchange/desk.ts: unexpected',
    // A step of a slider.
    'src/console/document.ts: 1000',
    // An amount in an example.
    'src/wiring/paper.ts: 1000',
  ]);
  expect(codes({ text: "if (code === '1002' || code === '104') stop();" })).toEqual(['1002', '104']);
});

test('the client is imported by the registry of venues alone', () => {
  const importers = files.filter(
    ({ path, arrows }) => !SPEAKS.test(path) && arrows.some(({ to }) => /^src\/exchange\//.test(to)),
  );
  // Deliveries of the embedded exchange go out by the same HTTP transport.
  expect(importers.map(({ path }) => path).sort()).toEqual(['src/wiring/deliveries.ts', 'src/wiring/venueRegistry.ts']);
});
