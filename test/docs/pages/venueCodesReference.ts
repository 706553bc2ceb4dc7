/** Writes docs/development/venue-codes.md from the tables of error codes of the exchanges. */
import { BINANCE_CODES, type VenueCode } from '../../../src/exchange/binance/wire/errorCodes.ts';
import { KRAKEN_CODES } from '../../../src/exchange/kraken/wire/errorCodes.ts';

const HEAD = `# Error codes of other exchanges

What each code proves as the answer to a write, and what the bot does. \`refused\`: the write was certainly not executed. \`unknown\`: it may have been. A code without
a row is unknown. After a colon is the key of a message, where one code has several. A server error (HTTP 5xx) or an answer that is no JSON is unknown with any code.
The codes of Bitso are in [\`errorCodes.ts\`](../../src/exchange/bitso/wire/errorCodes.ts).
`;

const VENUES: readonly (readonly [name: string, codes: readonly VenueCode[], about: string])[] = [
  [
    'Binance spot',
    BINANCE_CODES,
    'Sources are pages of github.com/binance/binance-spot-api-docs at a5e0bc3 unless a row says otherwise. None was seen on the exchange itself.',
  ],
  [
    'Kraken spot',
    KRAKEN_CODES,
    'Texts of errors; a detail may follow after a further colon. None was seen on the exchange itself.',
  ],
];

/** The page. */
export const venueCodesReference = (): string =>
  [
    HEAD,
    ...VENUES.flatMap(([name, codes, about]) => [
      `## ${name}`,
      '',
      about,
      '',
      '| code | meaning | proves | the bot | source |',
      '|---|---|---|---|---|',
      ...[...codes].sort(byNumber).map(rowOfCode),
      '',
    ]),
  ].join('\n');

const byNumber = (a: VenueCode, b: VenueCode): number =>
  parseInt(b.code) - parseInt(a.code) || (a.code < b.code ? -1 : 1);

const REACTIONS: Readonly<Record<NonNullable<VenueCode['meaning']>, string>> = {
  'duplicate id': 'looks the order up',
  'executed before': 'looks the order up',
  rules: 'reads the rules of the book',
  'post only': 'waits for the book',
  nonce: 'measures the time of the exchange; halts if it repeats',
  person: 'halts',
};

const rowOfCode = ({ code, text, is, meaning, throttled, source }: VenueCode): string => {
  const does = meaning === undefined ? (throttled ? 'pauses as long as the exchange says' : '') : REACTIONS[meaning];
  return `| \`${code}\` | ${text} | ${is} | ${does} | ${source} |`;
};
