/** Every cause of test/causes, told on real sockets within five seconds of it; what the receivers answer, and what neither they nor the log may see. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { Alerts, nextAt } from '../../src/alerts/alerts.ts';
import { channelsOf } from '../../src/alerts/channels.ts';
import { ALERT_EVENTS, ALERT_EVENT_NAMES, configSchema, type AlertEvent } from '../../src/config.ts';
import {
  moneyOf,
  Secret,
  settle,
  VirtualClock,
  type LimitUse,
  type RegimeState,
  type Snapshot,
  type SourceRefusal,
} from '../../src/core/index.ts';
import { KINDS } from '../causes/kinds.ts';
import { ALERT_NAMES } from '../../src/monitor/index.ts';
import { memoryLog } from '../memoryLog.ts';
import { CALM, calm, none, snapshot, type Bot } from './bots.ts';
import { receivers, SECRET, TOKEN } from './receivers.ts';

const regime = (changes: Partial<RegimeState>): Bot => snapshot({ regime: { ...calm, ...changes } });
const counts = (buy: Partial<typeof none>): Bot => snapshot({ counts: { buy: { ...none, ...buy }, sell: none } });
const used = (limit: 'drawdownMax' | 'dayLossMax'): LimitUse => {
  return { limit, currency: 'mxn', max: moneyOf('1000'), used: moneyOf('801') };
};

const inDebt = (debt: string): Bot => {
  const none = moneyOf('0');
  return snapshot({
    elsewhere: {
      ...{ place: 'far', held: none, funds: { base: none, quote: none }, rate: null, openOrders: 1, failures: 2 },
      ...{ isOpen: true, inTransit: { base: none, quote: none } },
      ...{ baseCurrency: 'btc', quoteCurrency: 'usdt', quoteHeld: none, debtMax: moneyOf('0.05'), band: none },
      ...{ debt: moneyOf(debt), debtValue: none, drift: none, driftValue: null, closed: { buy: null, sell: null } },
    },
  });
};

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Alerts on a clock of the test's, with receivers on real sockets. */
async function rig(answers: Parameters<typeof receivers>[0] = [], events: Partial<Record<AlertEvent, string>> = {}) {
  const { url, received, tries, close } = await receivers(answers);
  const clock = new VirtualClock();
  const { log, lines } = memoryLog();
  const settings = configSchema.shape.alerts.parse({
    ...{ webhook: { url: `${url}/hook` }, telegram: { chatId: '-100123', url }, digestAt: '06:00', events },
  })!;
  const secrets = { telegramToken: new Secret(TOKEN), webhookSecret: new Secret(SECRET), webhookUrl: null };
  const config = { alerts: settings, book: 'btc_mxn', instance: 'mm1' };
  const options = { config, clock, log, hidden: ['the-key-of-the-exchange'] };
  const alerts = new Alerts(options, channelsOf(settings, secrets, options.hidden, 60_000));
  ends.push(close, async () => {
    const closed = alerts.close();
    await clock.advance(5_000);
    await closed;
  });
  /** Without any time passing on the clock of the alerts. */
  const comes = async (text: string, times = 2): Promise<void> => {
    while (received.filter(one => one.text.includes(text)).length < times) await settle();
  };
  return { alerts, clock, received, lines, comes, tries, url };
}

type Case = readonly [name: string, event: AlertEvent, bot: Bot, holdMs: number];
const ofKinds = (prefix: string, make: (words: string) => Bot, event: (words: string) => AlertEvent): Case[] =>
  KINDS.filter(kind => kind.startsWith(`${prefix}: `) && kind !== 'pause: halted').map(kind => {
    const words = kind.slice(prefix.length + 2);
    return [kind, event(words), make(words), ['not ready', 'stopping'].includes(words) ? 30_000 : 0];
  });
const own: Readonly<Record<string, AlertEvent>> = {
  'book stale': 'bookStale',
  'ledger differs from the balances': 'ledgerDiffers',
  'sentinel is missing': 'sentinelGone',
};
const paused = (words: string): Bot =>
  words === 'the disk does not take the journal'
    ? { ...CALM, journalWritable: false }
    : snapshot({ quoting: words as Snapshot['quoting'] });
const sources = (refusal: SourceRefusal): Bot =>
  snapshot({
    livePrice: {
      sources: [
        {
          ...{ name: 'kraken', refusal, detail: 'why', price: null, sell: null, buy: null, feeBps: 10 },
          ...{ quoteRate: null, ageMs: null, lagMs: null, basisBps: null, basisErrorBps: null },
        },
      ],
      ...{ price: null, refusal: 'none' },
    },
  });
const unshown = { reason: 'no fair value', words: null, level: null } as const;

/** What `puntas run` would show of each cause, the event that it is, and how long it must have lasted. */
const CAUSES: readonly Case[] = [
  ...ofKinds(
    'halt',
    halt => regime({ regime: 'halted', halt }),
    () => 'halted',
  ),
  ...ofKinds('pause', paused, words => own[words] ?? 'notQuoting'),
  ...ofKinds(
    'wide',
    why => regime({ regime: 'wide', wide: { why, calmSince: null } }),
    () => 'wide',
  ),
  ...ofKinds(
    'reduce only',
    reduce => regime({ regime: 'reduce only', reduce }),
    () => 'reduceOnly',
  ),
  ['near its limit', 'reduceOnly', regime({ near: { why: 'inventory', calmSince: null } }), 0],
  ['drawdownNear', 'drawdownNear', { ...CALM, uses: [used('drawdownMax')] }, 0],
  ['dayLossNear', 'dayLossNear', { ...CALM, uses: [used('dayLossMax')] }, 0],
  ['sentinelGone', 'sentinelGone', { ...CALM, sentinelAgeMs: 61_000 }, 0],
  ['a stale source', 'sourceLost', sources('stale'), 30_000],
  ['a divergent source', 'sourceDivergent', sources('divergent'), 30_000],
  ['hedge debt', 'hedgeDebt', inDebt('0.01'), 60_000],
  ['diskLow', 'diskLow', { ...CALM, diskFreeBytes: 4e8 }, 0],
  ['ordersUnknown', 'ordersUnknown', counts({ unknown: 4 }), 0],
  ['ordersRefused', 'ordersRefused', counts({ refused: 11, placed: 20 }), 0],
  ['oneSided', 'oneSided', { ...CALM, quotesLive: { buy: 0, sell: 3 } }, 600_000],
  ['budgetSpent', 'budgetSpent', { ...CALM, budget: { public: 0, private: 3 } }, 60_000],
  ['noFills', 'noFills', CALM, 3_600_000],
  ['nothing shown', 'notQuoting', snapshot({ unshown: { buy: unshown, sell: unshown } }), 0],
];

describe('within five seconds both receivers have', () => {
  test.each(CAUSES)('%s, as %s', async (_, event, caused, holdMs) => {
    const { alerts, clock, comes } = await rig();
    let bot = CALM;
    alerts.watch(
      () => [bot],
      () => [],
    );
    // At the worst moment: another message has just gone.
    alerts.raise('started', 'now');
    await clock.advance(250);
    await comes('started: now');
    bot = caused;
    await clock.advance(holdMs + 5_000 - 500);
    await comes(` ${event}: `);
    bot = { ...CALM, quotesLive: { buy: 0, sell: 0 } };
    await clock.advance(5_000);
    await comes(` ${event}: over: `);
  });

  test.each([
    ['requestsSlow', (alerts: Alerts, i: number) => alerts.request(i % 8 === 0 ? 2_500 : 100, true)],
    ['requestsFailing', (alerts: Alerts, i: number) => alerts.request(100, i % 4 !== 0)],
    ['loopSlow', (alerts: Alerts, i: number) => alerts.decision(i % 50 === 0 ? 60 : 1)],
  ] as const)('%s, when it has lasted for five minutes', async (event, one) => {
    const { alerts, clock, comes, received } = await rig();
    alerts.watch(
      () => [CALM],
      () => [],
    );
    for (let second = 0, i = 0; second < 305; second++) {
      for (let each = 0; each < 4; each++) one(alerts, i++);
      await clock.advance(1_000);
      if (second === 290) expect(received).toEqual([]);
    }
    await comes(` ${event}: `);
  });

  test('the digest of the day, what began and ended, and the last word', async () => {
    const { alerts, clock, comes, received } = await rig([], { fill: 'off' });
    alerts.watch(
      () => [CALM],
      () => [{ text: 'profit 12.5 mxn; 3 fills' }],
    );
    for (let i = 0; i < 3; i++) alerts.raise('fill', 'bought');
    const ms = nextAt('06:00', clock.now()) - clock.now();
    await clock.advance(ms + 5_000);
    await comes('digest: since 2026-01-01 00:00 UTC: profit 12.5 mxn; 3 fills; noFills 1, fill 3');
    const closed = alerts.close('stopped (SIGTERM); verified: no open orders left');
    await comes('stopped: stopped (SIGTERM); verified: no open orders left; since 2026-01-01 06:00 UTC: no alerts');
    await closed;
    expect(received.filter(({ text }) => text.includes('digest')).map(({ isSilent }) => isSilent)).toEqual([
      true,
      true,
    ]);
  });

  test('with the books in the title that the bot has now, also after a reload', async () => {
    const { alerts, clock, received } = await rig();
    let books = ['btc_mxn'];
    alerts.watch(
      () => books.map(symbol => ({ ...CALM, symbol, ...(books.length === 1 ? {} : { book: symbol }) })),
      () => [],
    );
    const titles: string[] = [];
    for (const now of [['btc_mxn'], ['btc_mxn', 'sol_mxn', 'eth_mxn'], ['btc_mxn']]) {
      books = now;
      await clock.advance(5_000);
      alerts.raise('started', 'now');
      await clock.advance(5_000);
      while (received.length < 2 * (titles.length + 1)) await settle();
      titles.push(received.at(-1)!.text.split('\n')[0]!);
    }
    expect(titles).toEqual(['mm1 btc_mxn', 'mm1 (3 books)', 'mm1 btc_mxn']);
  });

  test('a pause silently, and loudly only when it lasts', async () => {
    const { alerts, clock, comes, received } = await rig();
    let bot = snapshot({ quoting: 'book stale' });
    alerts.watch(
      () => [bot],
      () => [],
    );
    await clock.advance(5_000);
    await comes('bookStale: ');
    await clock.advance(31_000);
    await comes('bookStale: ', 4);
    expect(received.map(({ isSilent }) => isSilent)).toEqual([true, true, false, false]);
    bot = CALM;
    await clock.advance(5_000);
    await comes('over: not quoting: book stale');
    // Over within a second: nobody hears of it.
    bot = snapshot({ quoting: 'book crossed' });
    await clock.advance(800);
    bot = CALM;
    await clock.advance(60_000);
    expect(received.filter(({ text }) => text.includes('book crossed'))).toEqual([]);
  });
});

describe('a receiver', () => {
  test('that is not ready, or asks for patience, gets the same message later; a refusal is told in the log', async () => {
    const patience = { ok: false, parameters: { retry_after: 40 }, description: 'Too Many Requests: retry after 40' };
    const { alerts, clock, comes, lines, tries, received } = await rig([
      { status: 503 },
      { status: 429, body: patience },
    ]);
    const tried = async (times: number) => {
      while (tries() < times) await settle();
    };
    alerts.raise('halted', 'drawdown');
    await clock.advance(200);
    await tried(2);
    // The answers are on their way.
    while (lines.length < 2) await settle();
    await clock.advance(1_000);
    while (received.length < 1 && tries() < 3) await settle();
    await clock.advance(40_000);
    await comes('halted: drawdown');
    await clock.advance(5_000);
    const told = lines.map(({ text }) => text).join('\n');
    expect(told).toContain('answered 503; retrying');
    expect(told).toContain('answered 429: Too Many Requests: retry after 40; retrying');
    expect(told.match(/accepts messages again/g)).toHaveLength(2);
  });

  test('sees no secret, in whatever is told, and the log sees neither token nor path', async () => {
    const refusal = { ok: false, description: `no bot of the token ${TOKEN}` };
    const { alerts, clock, lines, received, tries } = await rig([
      { status: 401, body: refusal },
      { status: 401, body: refusal },
    ]);
    alerts.raise('halted', 'drawdown');
    await clock.advance(1_000);
    while (lines.filter(({ level }) => level === 'error').length < 2) await settle();
    alerts.raise('stopped', `something broke: ${TOKEN} ${SECRET} the-key-of-the-exchange \u001b[31m`);
    await clock.advance(5_000);
    while (received.length < 2) await settle();
    expect(tries()).toBe(4);
    expect(received[0]!.text).toContain('something broke: [redacted] [redacted] [redacted] \ufffd[31m');
    for (const secret of [TOKEN, SECRET, 'the-key-of-the-exchange', '/hook', '/bot'])
      expect(JSON.stringify({ lines, received })).not.toContain(secret);
    expect(lines.map(({ text }) => text).join('\n')).toContain(
      'delivery to telegram chat -100123 failed: answered 401',
    );
  });

  test('of Telegram gets a flood of long texts in one message that it takes', async () => {
    const { alerts, clock, comes } = await rig();
    for (const event of ALERT_EVENT_NAMES) if (event !== 'fill') alerts.raise(event, '😀 a long text '.repeat(300));
    await clock.advance(1_000);
    await comes('halted: 😀');
    await comes('digest: 😀');
  });
});

describe('names', () => {
  const nameOf = (event: string): string => `Puntas${event[0]!.toUpperCase()}${event.slice(1)}`;

  test('each alert of Prometheus is an event of the same name', () => {
    expect(ALERT_NAMES.filter(name => !ALERT_EVENT_NAMES.some(event => nameOf(event) === name))).toEqual([]);
  });

  test('each event has its row on the page, with what it is without a word in the YAML, and its alert of Prometheus', () => {
    const page = readFileSync(new URL('../../docs/alerts.md', import.meta.url), 'utf8');
    const rows = page.split('\n').map(line => line.split('|').map(cell => cell.trim()));
    for (const event of ALERT_EVENT_NAMES) {
      const row = rows.find(cells => cells[1] === `\`${event}\``);
      expect(row?.[3]?.split(/[ ,]/)[0], event).toBe(ALERT_EVENTS[event].mode);
      expect(row?.[4], event).toBe((ALERT_NAMES as readonly string[]).includes(nameOf(event)) ? nameOf(event) : '');
    }
  });

  test('the critical events are those that the page names: the first seven and stopped', () => {
    const critical = ALERT_EVENT_NAMES.filter(event => 'isCritical' in ALERT_EVENTS[event]);
    expect(critical).toEqual([...ALERT_EVENT_NAMES.slice(0, 7), 'stopped']);
  });

  test('a day begins at the given time in UTC', () => {
    const at = (text: string) => Date.parse(text);
    expect(nextAt('07:30', at('2026-11-23T07:29:59Z'))).toBe(at('2026-11-23T07:30:00Z'));
    expect(nextAt('07:30', at('2026-11-23T07:30:00Z'))).toBe(at('2026-11-24T07:30:00Z'));
    expect(nextAt('00:00', at('2026-11-23T00:00:01Z'))).toBe(at('2026-11-24T00:00:00Z'));
  });
});
