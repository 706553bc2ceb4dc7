/** Writes the page of the embedded exchange out of its table of operator calls and its table of switches. */
import { OPERATOR_ROUTES, SECOND_OPERATOR_ROUTES, SECOND_SWITCHES, SWITCHES } from '../../../src/sandbox/index.ts';

type Row = (typeof SWITCHES)[keyof typeof SWITCHES] | (typeof SECOND_SWITCHES)[keyof typeof SECOND_SWITCHES];

/** docs/embedded-exchange.md as Markdown, before formatting. */
export function embeddedReference(): string {
  return [
    '<!-- Generated from src/sandbox/operator and src/sandbox/switches by `npm run docs`. A test fails when this page is not what the code says. -->',
    '# The embedded exchange',
    INTRODUCTION,
    '## Operator calls',
    OPERATOR,
    ['| call | takes | does |', '|---|---|---|', ...calls()].join('\n'),
    TRANSACTIONS,
    '## Switches',
    SWITCHES_INTRODUCTION,
    ['| switch | values | meaning |', '|---|---|---|', ...switches(SWITCHES)].join('\n'),
    '## Several live books',
    SEVERAL,
    '## A second exchange',
    SECOND,
  ].join('\n\n');
}

const calls = (): readonly string[] =>
  OPERATOR_ROUTES.map(({ method, pattern, takes, does }, i) => {
    const isSame = takes !== '' && takes === OPERATOR_ROUTES[i - 1]?.takes;
    return `| \`${method} ${pattern.replace('/operator', '')}\` | ${isSame ? 'the same' : takes} | ${does} |`;
  });

const switches = (table: Readonly<Record<string, Row>>): readonly string[] =>
  Object.entries(table).map(([name, row]) => {
    const values =
      row.kind === 'choice'
        ? row.variants.map(variant => `\`${variant}\``).join(', ')
        : `\`${row.fallback}\` (${row.min}–${row.max})`;
    return `| \`${name}\` | ${values} | ${row.decides} |`;
  });

/** docs/development/evidence/switches.md as Markdown: where each switch comes from. */
export const switchSources = (): string =>
  [
    '<!-- Generated from src/sandbox/switches by `npm run docs`. -->',
    '# Sources of the switches',
    'Each open point of the interface documents is a switch of the [embedded exchange](../../embedded-exchange.md). "rest-api" and "rfq" are sections of the two documents, "facts" those of the sheet of public facts.',
    [
      '| switch | source |',
      '|---|---|',
      ...Object.entries(SWITCHES).map(([name, { source }]) => `| \`${name}\` | ${source} |`),
    ].join('\n'),
    '## The second exchange',
    'Its switches are changed by its own operator calls. `spot-api-docs` is github.com/binance/binance-spot-api-docs at the commit named.',
    [
      '| switch | values | meaning | source |',
      '|---|---|---|---|',
      ...switches(SECOND_SWITCHES).map((row, i) => `${row} ${Object.values(SECOND_SWITCHES)[i]!.source} |`),
    ].join('\n'),
  ].join('\n\n');

const INTRODUCTION = `A real HTTP server with matching, accounts, RFQ, conversions, webhooks and a moving market. \`puntas run\` with
\`exchange.kind: embedded\` starts one. To run it for any client:

\`\`\`sh
npx puntas exchange --port 8080
\`\`\`

It listens on 127.0.0.1 and prints [addresses, keys and operator token](json.md#puntas-exchange). \`--seed\` fixes the market.

| path | content |
|---|---|
| \`/api/v3\`, \`/api/v4\` (also without \`/api\`) | books, orders, trades, balances, fees, conversions |
| \`/rfq/v1\` | pairs, quotes, conversions; errors are \`{"errors": [{code, message}]}\` |
| \`POST /v4/webhooks\` | registers a callback URL; other hosts need \`webhookHosts: any\` |
| \`GET /v4/webhooks/public-key\` | keys of signed deliveries (\`webhookSignature: rsa\`) |
| \`/operator\` | the calls below |

RFQ lists a pair if at most three books join its currencies. The rate is the mid price less \`rfqSpreadPips\`; rounding favors the desk.`;

const OPERATOR = `Paths below \`/operator\`, only from this machine (others get 404), with \`Authorization: Bearer <operatorToken>\`.
Bodies and answers are JSON, amounts text, errors \`{"error": "..."}\` with 400, 401, 404 or 405. The default \`account\` is the oldest.

\`\`\`sh
curl -s -H "Authorization: Bearer $TOKEN" -d '{"asset":"btc","amount":"0.5"}' http://127.0.0.1:8080/operator/deposits
\`\`\``;

const TRANSACTIONS = `A transaction is PENDING, IN_PROGRESS, then COMPLETE or FAILED, \`transactionStepMs\` apart.

- Deposits and issuances credit at COMPLETE.
- A withdrawal locks its amount immediately, and debits it at COMPLETE.
- A redemption debits immediately, and returns the amount if it fails or is refunded.
- A refund of an issuance removes the credit; it fails if the money is gone.
- Without \`steps\`, a refund takes all of its method; with outcome FAILED the last fails.
- In lists, a returned redemption is a positive withdrawal, a returned issuance a negative funding.

Deliveries of a final status or a refund always arrive; others can be lost (\`webhookSkipPips\`). At most 10,000 wait; optional ones are dropped first.`;

const SWITCHES_INTRODUCTION = `Switches decide what the interface documents leave open ([sources](development/evidence/switches.md)). Clients should work with every value; the first is the default. \`Ms\` is milliseconds, \`Pips\` 1/10000.`;

const SEVERAL = `\`exchange.market.books\` starts markets in more books than the traded one, as in \`config/desk-exchange.yaml\`. All
follow one hidden price per currency, so \`btc_mxn\` agrees with \`btc_usd\` times \`usd_mxn\`, up to the lag and the noise of
each book. \`correlation\` moves the coins together, and \`arbitrageur\` trades around three books whose prices disagree.
Makers are four times faster than in the default market, so the earnings in the heads of \`config/*.yaml\` do not apply.

With \`kind: tape\`, \`exchange.market.books\` names recordings of more books. All are replayed on one clock, for the
time that the recordings have in common.`;

const SECOND = `With \`elsewhere: { kind: embedded }\`, a second exchange runs in the same process. It has its own address, accounts, books,
matching and fees, and supports Binance's spot interface. To run both: \`puntas run -c config/elsewhere.yaml\`.

Both markets follow one hidden price:

- The second exchange moves first, by \`leadMs\`.
- The price of the first has a basis: a constant, a part that reverts to it, and a random walk.
- Each has its own noise, takers and makers. The same seeds give the same markets.

It has ping, time, exchangeInfo, depth, trades, aggTrades, tickers, orders, open and past orders, own trades, account,
commissions and fees. Streams: depth, bookTicker, trade and aggTrade. It has no user data stream, stop orders or margin.

\`puntas exchange -c config/elsewhere.yaml\` prints its address and key. Its operator calls, with the same token:
${SECOND_OPERATOR_ROUTES.map(({ method, pattern }) => `\`${method} ${pattern}\``).join(', ')}.

Its switches are [faults](development/evidence/switches.md#the-second-exchange): lost, cut or late answers, server errors,
rejected orders, partial fills, throttling, a wrong clock, silent streams and frozen books. \`{"answerLostPips":500}\` to
\`PATCH /operator/switches\` loses 1 answer in 20.`;
