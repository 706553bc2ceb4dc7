/** Writes the page of the embedded exchange out of its table of operator calls and its table of switches. */
import { OPERATOR_ROUTES, SWITCHES } from '../../../src/sandbox/index.ts';

/** docs/embedded-exchange.md as Markdown, before formatting. */
export function embeddedReference(): string {
  return [
    '<!-- Generated from src/sandbox/operator/operator.ts and src/sandbox/switches/switches.ts by `npm run docs`. A test fails when this page is not what the code says. -->',
    '# The embedded exchange',
    INTRODUCTION,
    '## Operator calls',
    OPERATOR,
    ['| call | takes | does |', '|---|---|---|', ...calls()].join('\n'),
    TRANSACTIONS,
    '## Switches',
    SWITCHES_INTRODUCTION,
    ['| switch | default | variants | decides | source |', '|---|---|---|---|---|', ...switches()].join('\n'),
  ].join('\n\n');
}

const calls = (): readonly string[] =>
  OPERATOR_ROUTES.map(({ method, pattern, takes, does }) => `| \`${method} ${pattern}\` | ${takes} | ${does} |`);

const switches = (): readonly string[] =>
  Object.entries(SWITCHES).map(([name, row]) => {
    const variants =
      row.kind === 'choice' ? row.variants.map(variant => `\`${variant}\``).join(', ') : `${row.min} to ${row.max}`;
    return `| \`${name}\` | \`${row.fallback}\` | ${variants} | ${row.decides} | ${row.source} |`;
  });

const INTRODUCTION = `A real HTTP server with real matching, accounts, RFQ, conversions and webhooks, and a market that moves. \`puntas run\` with
\`exchange.kind: embedded\` starts one for the bot. To run it alone, for any client:

\`\`\`sh
npx puntas exchange --port 8080
\`\`\`

It listens on 127.0.0.1 only and prints one line of JSON: \`url\`, \`rest\`, a funded account's \`key\` and \`secret\`, the \`book\`
that has a market, the \`operator\` address and the \`operatorToken\`. \`--tape DIR\` takes a recording as the market, \`--speed N\`
runs its clock faster, \`--seed N\` chooses everything random: the same seed does the same again.

| path | what |
|---|---|
| \`/api/v3\`, \`/api/v4\` (also without \`/api\`) | Books, orders, trades, balances, fees, conversions. |
| \`/rfq/v1\` | Pairs, quotes, conversions. Bare JSON; errors are \`{"errors": [{code, message}]}\`. |
| \`POST /v4/webhooks\` | Registers a callback URL on this machine; other hosts only with \`webhookHosts: any\`. |
| \`GET /v4/webhooks/public-key\` | Keys that check signed deliveries (\`webhookSignature: rsa\`). |
| \`/operator\` | The calls below. |

RFQ lists a pair while a chain of at most three books with two sides joins its currencies, so that an exchange whose one book has
a market quotes the two currencies of that book. The rate is the mid less \`rfqSpreadPips\`; the computed amount is rounded in
the desk's favour. Errors of signature, nonce, permission and budget come in the RFQ envelope with their four-digit code.
A registration refused for its content answers \`{"success": false, "error": "..."}\`; one refused at the door answers like REST.`;

const OPERATOR = `Only from this machine, and only with the header \`Authorization: Bearer <operatorToken>\`; to others the path does not exist.
Bodies and answers are JSON; amounts are text. Refusals are 400, 401, 404 or 405 with \`{"error": "..."}\`. Without \`account\`, the
oldest account is meant.

\`\`\`sh
curl -s -H "Authorization: Bearer $TOKEN" -d '{"asset":"btc","amount":"0.5"}' http://127.0.0.1:8080/operator/deposits
\`\`\``;

const TRANSACTIONS = `Every transaction is PENDING, then IN_PROGRESS, then COMPLETE or FAILED, \`transactionStepMs\` apart, and its account's webhook hears of
it. A deposit and an issuance credit at COMPLETE. A withdrawal locks its sum at once and takes it at COMPLETE. A redemption takes
its sum at once and gives it back when it fails, or at the end of its refund when it has one. The refund of an issuance that was
COMPLETE takes the credit back, and fails when it is no longer there. Without \`steps\`, a refund goes through all the steps that
the method needs; with outcome FAILED, the last one fails. In the lists of the ledger a refund stands under what it takes back: a
redemption that came back is a withdrawal above zero, the return of an issuance a funding below zero.

A delivery must arrive when it tells a final status or news of a refund; others may be left out (\`webhookSkipPips\`). At most
10,000 wait; then those that need not arrive give way first.`;

const SWITCHES_INTRODUCTION = `What the interface documents leave open is decided here, and a client should live with every variant. Sources: "rest-api" and
"rfq" are sections of the two interface documents (REST; RFQ and webhooks), "facts" those of the sheet of public facts.`;
