/** Texts that a page must show and never obey, and a view with every text of it replaced by one of them. */
import type { ConsoleView, LongHistory, ShownHour } from '../../src/console/index.ts';

/** Each would raise an alert, ask elsewhere, or change the page, were it markup, script, style or address. */
export const HOSTILE: readonly string[] = [
  `<script>alert(1)</script>`,
  `</script><script>alert(1)</script>`,
  `<img src=x onerror=alert(1)>`,
  `"><img src=https://evil.example/x onerror=alert(1)>`,
  `' onmouseover='alert(1)' autofocus onfocus='alert(1)`,
  `" style="background:url(https://evil.example/x)" x="`,
  `<svg/onload=alert(1)>`,
  `<svg><script href="data:,alert(1)"/></svg>`,
  `<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>`,
  `<base href="https://evil.example/">`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<link rel=stylesheet href=https://evil.example/x.css>`,
  `<form action=https://evil.example/><button autofocus>go</button></form>`,
  `<details open ontoggle=alert(1)>`,
  `<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>`,
  `</style></title></textarea><img src=x onerror=alert(1)>`,
  `--><img src=x onerror=alert(1)><!--`,
  `]]><img src=x onerror=alert(1)>`,
  `javascript:alert(1)`,
  `data:text/html,<script>alert(1)</script>`,
  `\\u003cimg src=x onerror=alert(1)\\u003e`,
  `&lt;img src=x onerror=alert(1)&gt;`,
  `\${alert(1)}{{alert(1)}}<%= alert(1) %>`,
  `a\r\n\r\ndata: {"kind":"waiting","bot":{},"trouble":"forged"}\n\n`,
  `a\u2028alert(1)\u2029b\u202egnirts\u202c\u0000\u001b[2J\ufeff`,
  `__proto__`,
  `constructor`,
  `NaN`,
  '🙂'.repeat(50),
  'x'.repeat(20_000),
];

const hour: ShownHour = {
  ...{
    from: 3_600_000,
    fills: 1,
    volume: 'v',
    trading: '1',
    fees: '-1',
    hedging: '0',
    net: '1',
    spread: '1',
    inventory: '0',
  },
};
const parts = { spread: '1', inventory: '1', fees: '-1', hedging: '0', total: '1' };
const order = { id: 'a', price: '1', remaining: '1', then: 'then', now: 'now' };

/** A view that has something in every place. */
export const FULL_VIEW: ConsoleView = {
  ...{
    kind: 'live',
    at: 7_200_000,
    run: 3,
    book: 'btc_mxn',
    strategy: 'ladder',
    instance: 'mm1',
    ledgerSince: '2026-11-20T14:05:00.000Z',
    major: 'btc',
    minor: 'mxn',
  },
  bot: {
    ...{ state: 'running', beatAgoMs: 100, writtenAgoMs: 100 },
    halts: [{ what: 'halted', reason: 'why', at: 7_000_000, by: 'Ana', until: 8_000_000 }],
  },
  catchingUp: 0.5,
  elsewhere: {
    books: [
      { ...{ name: 'btc_mxn', isHere: true, bid: '1', ask: '2' }, spreadBps: 1, ageMs: 5, problem: 'problem' },
      { ...{ name: 'other btc_usdt', isHere: false, bid: '1', ask: '2' }, spreadBps: 1, ageMs: 5, problem: null },
    ],
    sources: [
      {
        ...{ name: 'kraken', notUsed: 'stale (6.0 s)', price: '1', ageMs: 5, lagMs: null },
        ...{ basisBps: 1, basisErrorBps: 2, fromMidBps: 3, noLead: 'no lead' },
        lead: { ms: 1_500, lowMs: 1_000, highMs: 2_000, correlation: 0.5 },
      },
    ],
    hedging: {
      ...{ place: 'other', currency: 'btc', quoteCurrency: 'mxn', debt: '0.01', debtMax: '0.05', debtShare: 0.2 },
      ...{ band: '0.001', failures: 1, whyNotQuoted: 'no bid: waits', drift: '1', driftValue: '2' },
      open: { id: 'h', since: 7_000_000, isUnknown: true, amount: '1', why: 'why' },
      inventory: [{ exchange: 'other', base: '1', quote: '2', quoteCurrency: 'usdt' }],
      last: [
        {
          ...{ id: 'h', at: 7_000_000, state: 'open', amount: '1', traded: '1', why: 'why', expectedBps: 1 },
          ...{ paidBps: 2, paid: '3', otherFees: '1 bnb' },
        },
      ],
    },
  },
  runs: [{ run: 3, from: 3_600_000 }],
  decision: {
    decidedAt: 7_199_000,
    tick: '10',
    regime: { regime: 'normal', since: 3_600_000, why: 'why' },
    changes: [
      { regime: 'paused', since: null, why: 'why' },
      { regime: 'normal', since: 3_600_000, why: 'why' },
    ],
    refusal: 'refusal',
    smallestSizes: ['orders have the smallest size: 7 of 20 fills have reconciled'],
    market: { bid: '1', ask: '2', bookAgeMs: 5 },
    fair: { ticks: 10, steps: [{ name: 'mid', ticks: 10 }] },
    inventory: { currency: 'btc', fromTarget: '0.1', max: '1', holdings: { btc: '1' } },
    figures: [{ name: 'volatility', value: 1, unit: 'bps' }],
    levels: [
      {
        ...{ side: 'bid', level: 0, decision: 'place', reason: 'reason', detail: 'detail', price: '1', amount: '1' },
        ...{ steps: [{ name: 'mid', ticks: 10 }], order },
      },
    ],
    hedges: [
      {
        ...{ id: 'h', at: 7_000_000, state: 'open', amount: '1', why: 'why' },
        weighed: [{ way: 'rfq', cost: '1', not: 'not' }],
      },
    ],
    difference: 'difference',
    note: 'note',
  },
  depth: { bids: [{ price: '1', others: '1', ours: '1' }], asks: [{ price: '2', others: '1', ours: null }] },
  orders: [{ id: 'mm1-3-1', side: 'bid', price: '1', amount: '1', filled: '0', state: 'live', ageMs: 5, ahead: '1' }],
  limits: [{ limit: 'position', currency: 'btc', max: '1', used: '0.5', share: 0.5 }],
  unknown: 'unknown',
  position: '0.1',
  profit: { ...parts, currency: 'mxn', since: null, at: null, mid: null, run: parts },
  fills: {
    count: 1,
    last: [{ at: 7_000_000, side: 'ask', price: '1', amount: '1', fee: '1', role: 'maker', id: 'id', markoutBps: 1 }],
    markouts: [{ side: 'both', fills: 1, bps: 1 }],
  },
  uptime: { bid: 1, ask: 1 },
  counts: [{ side: 'bid', counts: { placed: 1 } }],
  budgets: {
    ...{ public: 1, private: 1, publicMax: 54, privateMax: 270, streamUp: true, eventLoopP99Ms: 1 },
    queueAhead: { bid: 1, ask: 1 },
  },
  ledger: {
    checkedAt: 7_000_000,
    rows: [{ currency: 'btc', balance: '1', exchange: '1', difference: '0', causes: [{ cause: 'fills', sum: '1' }] }],
  },
  hours: [hour],
  days: [hour],
  events: [{ at: 7_000_000, who: 'person', level: 'warn', text: 'text' }],
  point: [7_200_000, 1, 2, 1, 2, 0, 0, 0, 0, 0, 0],
};

/** Charts and results with every part. */
export const FULL_LONG: LongHistory = {
  ...{ run: 3, at: 7_000_000, isOpeningKnown: true, missing: ['entries are missing'] },
  week: { stepMs: 3_600_000, points: [[7_000_000, 1, 2, 3, 4, 5, 6, 7, 1, 1, 1, 1]] },
  opening: { stepMs: 3_600_000, points: [[7_000_000, 1, null, 3, null, null, 6, 7, null, null, null, null]] },
  changes: [{ at: 6_000_000, text: 'a: 1 -> 2', run: 3, digest: 'ab', by: 'ana', reason: 'why not' }],
  results: [
    {
      change: { at: 6_000_000, text: 'a: 1 -> 2', run: 3, digest: 'ab', by: 'ana', reason: 'why not' },
      ...{
        from: 6_000_000,
        to: null,
        hours: 9,
        net: '1.5',
        stopped: '0.5',
        fills: 2,
        volume: '100',
        perHour: 0.2,
        perVolumeBps: 3,
      },
      ...{ interval: { low: -1, high: 1 }, difference: { value: 1, low: -1, high: 2 } },
    },
  ],
};

/** With each text, and each name that is no field of the view's own, replaced. The form of the view stays: `kind` chooses it. */
export const poisoned = <T>(value: T, evil: string): T => walked(value, evil, '') as T;

/** Tables by name: the names come from outside. */
const NAMED = ['holdings', 'counts'];

function walked(value: unknown, evil: string, key: string): unknown {
  if (typeof value === 'string') return key === 'kind' ? value : evil;
  if (Array.isArray(value)) return value.map(each => walked(each, evil, ''));
  if (typeof value !== 'object' || value === null) return value;
  const isNamed = NAMED.includes(key);
  // Assigned, __proto__ would be no key.
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [isNamed ? evil : name, walked(each, evil, name)]),
  );
}
