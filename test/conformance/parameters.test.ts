/**
 * Every parameter of every call, strange in every way: the embedded exchange refuses it with a code of the documents, or takes it and
 * docs/sources/tolerances.md has a line with the reason. Nothing is read as something else in silence, and no line is of what is refused.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CODES, ROUTES } from '../../src/sandbox/index.ts';
import { parametersOf } from '../../src/sandbox/http/parameters.ts';
import { RFQ_CODES } from '../../src/sandbox/desks/rfqCodes.ts';
import { CALLBACK, deskArena } from '../sandbox/desk.ts';

type Arena = ReturnType<typeof deskArena>;
type Body = Readonly<Record<string, unknown>>;
/** A request that succeeds: values of the path, of the query and of the body. */
type Good = { readonly path?: Record<string, string>; readonly query?: Record<string, string>; readonly body?: Body };

const ORDER: Body = {
  book: 'btc_mxn',
  side: 'sell',
  type: 'limit',
  price: '1600000',
  major: '0.1',
  origin_id: 'mine-1',
};
const QUOTE: Body = { from_currency: 'btc', to_currency: 'mxn', spend_amount: '0.01' };
const RFQ: Body = { source: 'USD', target: 'MXN', source_amount: '10' };
const placed = ({ ann }: Arena): string => ann.place({ ...ORDER });
const traded = ({ ann }: Arena): string =>
  ann.place({ book: 'btc_mxn', side: 'sell', type: 'limit', price: '1400000', major: '0.1', origin_id: 'sold-1' });
const PAGE = { limit: '10', sort: 'asc' };

/** Of a call that takes parameters, or has a value in its path, how it succeeds. */
const GOOD: Readonly<Record<string, (arena: Arena) => Good>> = {
  'GET /v3/order_book': () => ({ query: { book: 'btc_mxn', aggregate: 'false' } }),
  'GET /v3/trades': () => ({ query: { book: 'btc_mxn', ...PAGE, marker: '1' } }),
  'GET /v3/ticker': () => ({ query: { book: 'btc_mxn' } }),
  'POST /v3/ticker': () => ({ query: { book: 'btc_mxn' } }),
  'GET /v3/ohlc': () => ({ query: { book: 'btc_mxn', time_bucket: '60', start: '0', end: '1790000000000' } }),
  'GET /v3/user_trades': () => ({ query: { book: 'btc_mxn', ...PAGE, marker: '1' } }),
  'GET /v3/user_trades/:tids': () => ({ path: { tids: '1' } }),
  'GET /v3/order_trades': arena => (traded(arena), { query: { origin_id: 'sold-1' } }),
  'GET /v3/order_trades/:oid': arena => ({ path: { oid: traded(arena) } }),
  'POST /v3/orders': () => ({ body: ORDER }),
  'DELETE /v3/orders/:oid': arena => ({ path: { oid: placed(arena) } }),
  'DELETE /v3/orders': arena => ({ query: { oids: placed(arena) } }),
  'DELETE /v3/orders/all': arena => (placed(arena), {}),
  'PATCH /v3/orders/:oid': arena => ({ path: { oid: placed(arena) }, body: { price: '1610000', major: '0.2' } }),
  'PATCH /v3/orders': arena => ({ query: { oid: placed(arena) }, body: { price: '1610000', major: '0.2' } }),
  'PATCH /v4/orders/:oid': arena => ({ path: { oid: placed(arena) }, body: { price: '1610000', cancel: true } }),
  'PATCH /v4/orders': arena => ({ query: { oid: placed(arena) }, body: { price: '1610000', cancel: true } }),
  'GET /v3/orders/:oid': arena => ({ path: { oid: placed(arena) } }),
  'GET /v3/orders': arena => ({ query: { oids: placed(arena) } }),
  'GET /v3/open_orders': arena => (
    placed(arena),
    { query: { book: 'btc_mxn', currency: 'mxn', limit: '10', source: 'alpha' } }
  ),
  'POST /v4/currency_conversions': () => ({ body: QUOTE }),
  'POST /v3/currency_conversions': () => ({ body: QUOTE }),
  'PUT /v4/currency_conversions/:id': arena => ({ path: { id: quoted(arena) } }),
  'PUT /v3/currency_conversions/:id': arena => ({ path: { id: quoted(arena) } }),
  'GET /v4/currency_conversions/:id': arena => {
    const { oid } = arena.ann.get<{ oid: string }>('PUT', `/v4/currency_conversions/${quoted(arena)}`);
    return { path: { id: oid } };
  },
  'GET /v3/currency_conversions/:quote_id': arena => {
    const id = quoted(arena);
    arena.ann.call('PUT', `/v4/currency_conversions/${id}`);
    return { path: { quote_id: id } };
  },
  'GET /v3/ledger': arena => (traded(arena), { query: PAGE }),
  'GET /v3/ledger/trades': arena => (traded(arena), { query: PAGE }),
  'GET /v3/ledger/fees': arena => (traded(arena), { query: PAGE }),
  'GET /v3/ledger/fundings': () => ({ query: PAGE }),
  'GET /v3/ledger/withdrawals': () => ({ query: PAGE }),
  'GET /v3/fundings': () => ({ query: PAGE }),
  'GET /v3/fundings/:ids': arena => ({ path: { ids: funding(arena) } }),
  'GET /v3/withdrawals': () => ({ query: PAGE }),
  'GET /v3/withdrawals/:ids': () => ({ path: { ids: 'a-b' } }),
  'GET /v3/funding_destination': () => ({ query: { fund_currency: 'btc' } }),
  'POST /v3/phone_number': () => ({ body: { phone_number: '5500000000' } }),
  'POST /v3/phone_verification': () => ({ body: { verification_code: '1234' } }),
  'GET /rfq/v1/pairs': () => ({ query: { source: 'USD', target: 'MXN' } }),
  'POST /rfq/v1/quotes': () => ({ body: RFQ }),
  'GET /rfq/v1/quotes/:quote_id': arena => ({ path: { quote_id: rfqQuote(arena) } }),
  'POST /rfq/v1/conversions': arena => ({ body: { quote_id: rfqQuote(arena) } }),
  'GET /rfq/v1/conversions/:conversion_id': arena => {
    const made = arena.ann.call('POST', '/rfq/v1/conversions', { quote_id: rfqQuote(arena) });
    return { path: { conversion_id: (JSON.parse(made.text) as { id: string }).id } };
  },
  'GET /rfq/v1/conversions': () => ({ query: { status: 'COMPLETED', page_size: '10' } }),
  'POST /v4/webhooks': () => ({ body: { callback_url: CALLBACK, events: ['TRANSACTION'] } }),
};
const quoted = ({ ann }: Arena): string => ann.get<{ id: string }>('POST', '/v4/currency_conversions', QUOTE).id;
const rfqQuote = ({ ann }: Arena): string =>
  (JSON.parse(ann.call('POST', '/rfq/v1/quotes', RFQ).text) as { id: string }).id;
const funding = ({ ann }: Arena): string => ann.get<{ fid: string }[]>('GET', '/v3/fundings')[0]?.fid ?? 'none';

/** Values for a parameter that takes none of them, by what is strange; `given` is one that it takes. */
const QUERY_VALUES: Readonly<Record<string, (given: string) => string>> = {
  empty: () => '',
  'another case': given => (given === given.toUpperCase() ? given.toLowerCase() : given.toUpperCase()),
  'another word': () => 'banana',
  negative: () => '-1',
  fraction: () => '1.5',
  huge: () => '9'.repeat(41),
  'with a sign that no value has': () => 'a b!',
};
const BODY_VALUES: Readonly<Record<string, (given: unknown) => unknown>> = {
  null: () => null,
  empty: () => '',
  'another case': given =>
    typeof given !== 'string' ? given : given === given.toUpperCase() ? given.toLowerCase() : given.toUpperCase(),
  'another word': () => 'banana',
  'a number': () => 1,
  'a truth value': () => true,
  'a list': () => ['x'],
  'an object': () => ({ x: 1 }),
  negative: () => '-1',
  'with an exponent': () => '1e3',
  huge: () => '9'.repeat(41),
};

type Strange = {
  readonly name: string;
  readonly kind: string;
  readonly change: (good: Good) => Good | { raw: string; good: Good };
};

/** Two wishes that exclude each other, by call. */
const PAIRS: Readonly<Record<string, readonly { name: string; change: (good: Good, arena: Arena) => Good }[]>> = {
  'POST /v3/orders': [
    { name: 'major and minor', change: good => ({ body: { ...good.body, minor: '100' } }) },
    { name: 'a market order and a price', change: good => ({ body: { ...good.body, type: 'market' } }) },
    {
      name: 'a limit order and minor alone',
      change: good => ({ body: { ...good.body, major: undefined, minor: '1000' } }),
    },
  ],
  ...Object.fromEntries(
    ['GET', 'DELETE', 'PATCH'].flatMap(method => [
      [
        `${method} /v3/orders`,
        [
          ['oids and origin_ids', { oids: 'a', origin_ids: 'mine-1' }],
          ['oid and oids', { oid: 'a', oids: 'b' }],
          ['origin_id and origin_ids', { origin_id: 'mine-1', origin_ids: 'b' }],
        ].map(([name, query]) => ({
          name: name as string,
          change: (good: Good) => ({ ...good, query: query as never }),
        })),
      ],
      [
        `${method} /v3/orders/:oid`,
        [{ name: 'path and query', change: (good: Good) => ({ ...good, query: { origin_ids: 'mine-1' } }) }],
      ],
    ]),
  ),
  'GET /v3/order_trades': [{ name: 'oid and origin_id', change: good => ({ query: { ...good.query, oid: 'a' } }) }],
  'GET /v3/order_trades/:oid': [
    { name: 'path and query', change: good => ({ ...good, query: { origin_id: 'sold-1' } }) },
  ],
  'GET /v3/fundings': [{ name: 'fids and origin_ids', change: () => ({ query: { fids: 'a', origin_ids: 'b' } }) }],
  'GET /v3/fundings/:ids': [{ name: 'path and query', change: good => ({ ...good, query: { fids: 'a' } }) }],
  'GET /v3/withdrawals': [{ name: 'wids and origin_ids', change: () => ({ query: { wids: 'a', origin_ids: 'b' } }) }],
  'POST /v4/currency_conversions': [
    { name: 'spend_amount and receive_amount', change: good => ({ body: { ...good.body, receive_amount: '1' } }) },
    { name: 'the same currency twice', change: good => ({ body: { ...good.body, to_currency: 'btc' } }) },
  ],
  'POST /rfq/v1/quotes': [
    { name: 'source_amount and target_amount', change: good => ({ body: { ...good.body, target_amount: '1' } }) },
  ],
  'DELETE /v3/orders/all': ['book', 'currency', 'oids', 'origin_ids'].map(name => ({
    name: `all and ${name}`,
    change: () => ({ query: { [name]: name === 'book' ? 'eth_mxn' : 'mxn' } }),
  })),
};

function strangeOf(call: string, good: Good): readonly Strange[] {
  const [method, pattern] = call.split(' ') as [string, string];
  const { query = [], body } = parametersOf(method, pattern);
  const all: Strange[] = [];
  for (const name of query) {
    const given = good.query?.[name] ?? 'mine-1';
    for (const [kind, of] of Object.entries(QUERY_VALUES))
      if (of(given) !== given && !(kind === 'another case' && /^[\d.]*$/.test(given)))
        all.push({
          name,
          kind,
          change: each => ({ ...each, query: onlyNames(name, { ...each.query, [name]: of(given) }) }),
        });
    all.push({
      ...{ name, kind: 'twice' },
      change: each => ({ raw: `${name}=${given}`, good: { ...each, query: { ...each.query, [name]: given } } }),
    });
  }
  for (const name of Object.keys(good.path ?? {}))
    for (const [kind, of] of Object.entries(QUERY_VALUES))
      if (kind !== 'empty')
        all.push({ name: `:${name}`, kind, change: each => ({ ...each, path: { [name]: of(each.path![name]!) } }) });
  all.push({
    name: 'nonsense',
    kind: 'unknown',
    change: each => ({ ...each, query: { ...each.query, nonsense: '1' } }),
  });
  for (const name of body ?? []) {
    const given = good.body?.[name];
    for (const [kind, of] of Object.entries(BODY_VALUES))
      if (JSON.stringify(of(given)) !== JSON.stringify(given))
        all.push({ name, kind, change: each => ({ ...each, body: { ...each.body, [name]: of(given) } }) });
  }
  if (body !== undefined)
    all.push({
      name: 'nonsense',
      kind: 'unknown',
      change: each => ({ ...each, body: { ...each.body, nonsense: '1' } }),
    });
  if (method !== 'GET')
    all.push({
      name: 'a body',
      kind: body === undefined ? 'unknown' : 'not an object',
      change: each => ({ ...each, body: (body === undefined ? { book: 'btc_mxn' } : []) as Body }),
    });
  return all;
}

/** Of the names of orders one at a time: two are a pair. */
const IDS = ['oid', 'oids', 'origin_id', 'origin_ids'];
const onlyNames = (name: string, query: Record<string, string>): Record<string, string> =>
  IDS.includes(name)
    ? Object.fromEntries(Object.entries(query).filter(([each]) => each === name || !IDS.includes(each)))
    : query;

const KNOWN: ReadonlySet<string> = new Set([...CODES, ...RFQ_CODES, '20']);

/** `ok`, or the code that it is refused with; `?` for a refusal without one. */
function outcomeOf(arena: Arena, call: string, asked: Good, more = ''): string {
  const [method, pattern] = call.split(' ') as ['GET', string];
  const path = pattern.replace(/:(\w+)/, (_, name: string) => encodeURIComponent(asked.path?.[name] ?? ''));
  const search = [new URLSearchParams(asked.query).toString(), more].filter(each => each !== '').join('&');
  const reply = arena.ann.call(method, `${path}${search === '' ? '' : `?${search}`}`, asked.body);
  if (reply.status === 200) return 'ok';
  const { error, errors } = (reply.text === '' ? {} : JSON.parse(reply.text)) as {
    error?: { code?: string | number } | string;
    errors?: { code: string }[];
  };
  // Registrations are refused with a sentence (rfq 4.7).
  if (pattern === '/v4/webhooks' && typeof error === 'string') return 'a sentence';
  const code = String(errors?.[0]?.code ?? (typeof error === 'object' ? error.code : '?'));
  return KNOWN.has(code) ? code : '?';
}

type Line = { readonly call: RegExp; readonly name: RegExp; readonly kind: RegExp; readonly text: string };

/** The lines of the page: what is taken, by call, parameter and kind, each a word with stars. */
const LINES: readonly Line[] = readFileSync(
  fileURLToPath(new URL('../../docs/sources/tolerances.md', import.meta.url)),
  'utf8',
)
  .split('\n')
  .filter(line => line.startsWith('| `'))
  .map(text => {
    const [call, name, kind] = [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => patternOf(word!)) as [
      RegExp,
      RegExp,
      RegExp,
    ];
    return { call, name, kind, text };
  });
function patternOf(word: string): RegExp {
  const escaped = (text: string) => text.replace(/[^\w* ]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^(?:${word.split(', ').map(escaped).join('|')})$`);
}

const calls = ROUTES.map(({ method, pattern }) => `${method} ${pattern}`);
const used = new Set<string>();

describe('a parameter', () => {
  test('is given a value that is taken, in each call that takes one', () => {
    for (const call of calls) {
      const arena = deskArena();
      const good = GOOD[call]?.(arena) ?? {};
      const [method, pattern] = call.split(' ') as [string, string];
      const { query, body } = parametersOf(method, pattern);
      if (query !== undefined || body !== undefined || pattern.includes(':')) expect(GOOD[call], call).toBeDefined();
      expect(outcomeOf(arena, call, good), call).toBe('ok');
    }
    expect(Object.keys(GOOD).filter(call => !calls.includes(call))).toEqual([]);
  });

  test.each(calls)('of %s that is strange is refused with a code, or has its line and its reason', call => {
    const silent: string[] = [];
    const note = (name: string, kind: string, outcome: string): void => {
      if (outcome === '?') silent.push(`${call} ${name} ${kind}: refused without a code`);
      if (outcome !== 'ok') return;
      const line = LINES.find(each => each.call.test(call) && each.name.test(name) && each.kind.test(kind));
      if (line === undefined) silent.push(`${call} | ${name} | ${kind}`);
      else used.add(line.text);
    };
    for (const { name, kind, change } of strangeOf(call, GOOD[call]?.(deskArena()) ?? {})) {
      const arena = deskArena();
      const changed = change(GOOD[call]?.(arena) ?? {});
      note(
        name,
        kind,
        'raw' in changed ? outcomeOf(arena, call, changed.good, changed.raw) : outcomeOf(arena, call, changed),
      );
    }
    for (const { name, change } of PAIRS[call] ?? []) {
      const arena = deskArena();
      note(name, 'pair', outcomeOf(arena, call, change(GOOD[call]?.(arena) ?? {}, arena)));
    }
    expect(silent).toEqual([]);
  });

  test('has no line of what is refused', () => {
    expect(LINES.map(({ text }) => text).filter(text => !used.has(text))).toEqual([]);
    expect(LINES.length).toBeGreaterThan(10);
  });
});

describe('a cancel', () => {
  test.each(['book=eth_mxn', 'book=', 'book=btc_mxn', 'currency=mxn', 'oids=a'])(
    'of all with ?%s, which is less than all, cancels nothing',
    query => {
      const { ann } = deskArena();
      const oid = ann.place({ ...ORDER });
      expect(ann.call('DELETE', `/v3/orders/all?${query}`).body.error.code).toBe('0304');
      expect(ann.order(oid)!['status']).not.toBe('cancelled');
      // What a common client adds to each call without parameters means nothing (docs/development/clients.md).
      expect(ann.call('DELETE', '/v3/orders/all?undefined').body.payload).toEqual([oid]);
    },
  );

  test('with two lists of ids cancels neither', () => {
    const { ann } = deskArena();
    const oid = ann.place({ ...ORDER });
    expect(ann.call('DELETE', `/v3/orders?oids=${oid}&origin_ids=mine-1`).body.error.code).toBe('0361');
    expect(ann.order(oid)!['status']).not.toBe('cancelled');
  });
});

test('a body that says a field twice is refused: no reader knows which one is meant', () => {
  const { ann, exchange } = deskArena();
  const text = JSON.stringify(ORDER).replace('"major"', '"price":"1","major"');
  const headers = ann.headers('POST', '/v3/orders', text);
  const reply = exchange.respond({ method: 'POST', target: '/v3/orders', headers, body: text }, '127.0.0.1');
  expect(reply.body).toContain('"code":"0304"');
});
