/** Whatever persons do, and whatever happens to the bot: at no moment does the page say other than the bot and its state directory. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import type { ActionAsk } from '../../../src/app/actions/actions.ts';
import type { ConsoleView } from '../../../src/console/index.ts';
import { amount, remaining, textOfAmount, textOfMoney, textOfPrice } from '../../../src/core/index.ts';
import { panels } from './pageText.ts';
import { WatchedBot, type Moment } from './watchedBot.ts';

/** From when a person has acted until a bot that runs has taken it up, ms. */
const TAKEN_UP_MS = 4_500;
const SILENT_MS = 17_000;

let textOf: (panel: string, view: ConsoleView) => string;
beforeAll(async () => void (textOf = await panels()));

type Step =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'act'; readonly action: Verb; readonly forMs: number | null; readonly by: string }
  | { readonly kind: 'kill'; readonly downMs: number }
  | { readonly kind: 'wire'; readonly fate: 'lost' | 'unanswered' | 'not sent'; readonly ms: number };
const VERBS = ['pause', 'reduce', 'halt', 'resume', 'cancel', 'flatten'] as const;
type Verb = (typeof VERBS)[number];

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 300, max: 9_000 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('act' as const),
      action: fc.constantFrom(...VERBS, 'resume', 'pause'),
      forMs: fc.option(fc.integer({ min: 1_000, max: 15_000 })),
      by: fc.constantFrom('Ann', '<b>Bob</b>', 'Çelik & co'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('kill' as const), downMs: fc.constantFrom(500, 4_000, 20_000) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('wire' as const),
      fate: fc.constantFrom('lost', 'unanswered', 'not sent'),
      ms: fc.integer({ min: 500, max: 8_000 }),
    }),
  },
);

/** What the view and the page say of a moment, against the bot's own engine. Throws where they differ. */
function compare({ engine, instrument, at, view }: Moment): void {
  const { regime, orders, booked, known } = engine.book.snapshot(at);
  const { inventory, profit, fills, holdings } = booked;
  expect([view.decision.regime.regime, view.decision.regime.why]).toEqual([regime.regime, regime.why]);
  expect(textOf('headPanel', view)).toContain(` ${regime.regime}`);
  expect(textOf('regimePanel', view).startsWith(regime.regime)).toBe(true);
  expect(textOf('regimePanel', view)).toContain(regime.why.replaceAll(/\s+/g, ' '));

  const live = orders.filter(({ state }) => state !== 'closed-unsettled' && state !== 'done');
  const lots = (of: number): string => textOfAmount(instrument, amount(of));
  const row = (side: string, price: string, size: string, filled: string) => `${side} ${price} ${size} ${filled}`;
  const own = live.map(order =>
    row(order.side, textOfPrice(instrument, order.price), lots(order.amount), `${lots(order.filled)} ${order.state}`),
  );
  const told = view.orders.map(({ side, price, amount: size, filled, state }) =>
    row(side === 'bid' ? 'buy' : 'sell', price, size, `${filled} ${state}`),
  );
  expect(told.toSorted()).toEqual(own.toSorted());
  const page = textOf('ordersPanel', view);
  for (const order of live) expect(page).toContain(textOfPrice(instrument, order.price));
  if (live.length === 0) expect(page).toBe('the bot has no open order');
  const ours = [...view.depth.bids, ...view.depth.asks].flatMap(({ price, ours: size }) =>
    size === null ? [] : [`${price} ${size}`],
  );
  const byPrice = new Map<string, number>();
  for (const order of live) {
    const at_ = textOfPrice(instrument, order.price);
    byPrice.set(at_, (byPrice.get(at_) ?? 0) + remaining(order));
  }
  expect(ours.toSorted()).toEqual([...byPrice].map(([price, size]) => `${price} ${lots(size)}`).toSorted());

  expect(view.decision.inventory.fromTarget).toBe(textOfMoney(inventory));
  expect(view.decision.inventory.holdings).toEqual(
    Object.fromEntries([...holdings].map(([name, sum]) => [name, textOfMoney(sum)])),
  );
  expect(view.unknown).toBe(known.unknown);
  const isKnown = known.trades !== null;
  expect([view.profit, view.position, view.fills.count].map(figure => figure !== null)).toEqual(Array(3).fill(isKnown));
  if (view.profit !== null) expect(view.profit.run?.total).toBe(textOfMoney(profit.total));
  if (view.position !== null) expect(view.position).toBe(textOfMoney(inventory));
  // Those of earlier runs of the bot are counted too.
  if (view.fills.count !== null) expect(view.fills.count).toBeGreaterThanOrEqual(fills);
  const uses = engine.book.limitUses(at);
  expect(view.limits.map(({ limit }) => limit)).toEqual(uses.map(({ limit }) => limit));
  uses.forEach(({ limit, used, max }, i) => {
    const shown = view.limits[i]!;
    if (typeof used === 'bigint') expect([limit, shown.used]).toEqual([limit, textOfMoney(used)]);
    if (typeof max === 'bigint') expect([limit, shown.max]).toEqual([limit, textOfMoney(max)]);
    expect(textOf('limitsPanel', view)).toContain(limit);
  });
}

/** A file of the state directory as it lies there; null where there is none. */
function lying(
  dir: string,
  name: string,
): { readonly reason: string; readonly who?: string; readonly by: string } | null {
  const file = join(dir, name);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof lying>) : null;
}

/** What holds the bot, by the files themselves, against what the page says of it: that, and who and why. */
function compareHolds(view: ConsoleView, dir: string, at: number): void {
  const pause = lying(dir, 'PAUSED') as { readonly until: number | null; readonly reason: string } | null;
  const there = [
    ['halted', lying(dir, 'HALTED')],
    ['paused', pause !== null && pause.until !== null && pause.until <= at ? null : lying(dir, 'PAUSED')],
    ['reduce only', lying(dir, 'REDUCE')],
  ] as const;
  const flatten = lying(dir, 'FLATTEN') as {
    readonly by: string;
    readonly reason: string;
    readonly costMax: string;
  } | null;
  const holds = [
    ...there.flatMap(([what, of]) => (of === null ? [] : [[what, of.who ?? of.by, of.reason]])),
    ...(flatten === null ? [] : [['flatten', flatten.by, `${flatten.reason} (total cost at most ${flatten.costMax})`]]),
  ] as const;
  expect(view.bot.halts.map(({ what, by, reason }) => [what, by, reason])).toEqual(holds);
  const head = textOf('headPanel', view);
  const warnings = textOf('warningsPanel', view);
  for (const [what, who, why] of holds) {
    expect(head).toContain(what);
    expect(warnings).toContain(`${what} by ${who} at `);
    expect(warnings).toContain(`: ${why}`);
  }
  if (holds.length === 0) expect(warnings).not.toMatch(/(?:halted|paused|held|reduce only|flatten) by .* at \d{4}-/);
  const last = actionsIn(dir).at(-1);
  if (last === undefined) return;
  const events = textOf('eventsPanel', view);
  expect(events).toContain(`${last.by}: ${last.action}`);
  expect(events).toContain(last.reason);
}

class Story {
  readonly bot: WatchedBot;
  moments = 0;
  #last: Moment | null = null;
  #asked = 0;
  /** When the last pause that has an end is over, by the bot's clock. */
  #until = -Infinity;
  readonly #waiting = new Set<Promise<unknown>>();
  #broken: Error | null = null;

  constructor(seed: number) {
    this.bot = new WatchedBot(seed, moment => {
      this.moments++;
      this.#last = moment;
      try {
        compare(moment);
      } catch (error) {
        // The loop takes what is thrown here for a full disk.
        this.#broken ??= error as Error;
      }
    });
  }

  async pass(ms: number): Promise<void> {
    await this.bot.clock.advance(ms);
    if (this.#broken !== null) throw this.#broken;
  }

  async begin(): Promise<void> {
    const before = this.moments;
    this.bot.start();
    // Until then there is a view of the run before, or none.
    for (let s = 0; s < 90 && this.moments === before; s++) await this.pass(1_000);
    expect(this.moments).toBeGreaterThan(before);
  }

  async take(of: Step): Promise<void> {
    switch (of.kind) {
      case 'wait':
        return this.pass(of.ms);
      case 'wire':
        this.bot.fate = of.fate;
        await this.pass(of.ms);
        this.bot.fate = 'arrives';
        return;
      case 'kill':
        this.bot.kill();
        await this.pass(of.downMs);
        this.#checkDead(of.downMs);
        return this.begin();
      case 'act':
        return this.#act(of);
    }
  }

  async #act({ action, forMs, by }: Extract<Step, { kind: 'act' }>): Promise<void> {
    const n = ++this.#asked;
    const asked = { id: `a-${n}`, reason: `${action} no. ${n} & "more"`, by, via: 'console' as const };
    const until = forMs === null ? {} : { untilMs: this.bot.clock.now() + forMs };
    const ask: ActionAsk =
      action === 'pause'
        ? { ...asked, action, ...until }
        : action === 'flatten'
          ? { ...asked, action, costMax: '200' }
          : { ...asked, action };
    if (action === 'pause') this.#until = until.untilMs ?? -Infinity;
    const done = this.bot.act(ask).finally(() => this.#waiting.delete(done));
    this.#waiting.add(done);
    // Before the bot has heard of it the page says what was asked; the rest once it is taken up.
    await this.pass(0);
    if (action !== 'cancel') compareHolds(this.bot.view()!, this.bot.dir, this.bot.clock.now());
    await this.pass(TAKEN_UP_MS);
    while (this.#waiting.size > 0) await this.pass(500);
    await this.settled();
  }

  /** Nothing is under way: files, bot and page agree. */
  async settled(): Promise<void> {
    const { bot } = this;
    // The end of a pause, too, is taken up at the bot's next look.
    const overFor = bot.clock.now() - this.#until;
    if (overFor >= -TAKEN_UP_MS && overFor <= TAKEN_UP_MS) await this.pass(TAKEN_UP_MS - overFor);
    const view = bot.view()!;
    compareHolds(view, bot.dir, bot.clock.now());
    expect(view.bot.state).toBe('running');
    const engine = this.#last!.engine;
    const what = view.bot.halts.map(({ what: name }) => name as string);
    const { regime } = view.decision.regime;
    expect([what.includes('halted'), what.includes('paused')]).toEqual([
      engine.book.haltedBecause !== null,
      engine.book.pausedBecause !== null,
    ]);
    expect(what.includes('reduce only')).toBe(engine.book.reducingBecause !== null);
    if (what.includes('halted')) expect(regime).toBe('halted');
    else if (what.includes('paused')) expect(regime).toBe('paused');
  }

  /** A bot that was killed is not told to run once its last sign of life is old. */
  #checkDead(forMs: number): void {
    const view = this.bot.view()!;
    compareHolds(view, this.bot.dir, this.bot.clock.now());
    if (forMs < SILENT_MS) return;
    expect(view.bot.state).toBe('silent');
    expect(textOf('headPanel', view)).toContain('no heartbeat');
  }
}

test('the page says what the bot is, at every moment of any story', async () => {
  let moments = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1_000 }),
      fc.array(step, { minLength: 4, maxLength: 10 }),
      async (seed, steps) => {
        const story = new Story(seed);
        try {
          await story.begin();
          for (const each of steps) await story.take(each);
          await story.pass(TAKEN_UP_MS);
          await story.settled();
          moments += story.moments;
        } finally {
          story.bot.close();
        }
      },
    ),
    { numRuns: Number(process.env['PUNTAS_STORIES'] ?? 6) },
  );
  expect(moments).toBeGreaterThan(50);
});
