/** The engine before a book that is behind: what the exchange refuses as post-only is not sent again and again. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EngineNews, EngineOptions, PlaceCommand, Side } from '../../../src/core/index.ts';
import { ToyExchange, quoteAround, type Fate } from '../toyExchange.ts';
import { runsOf } from '../../many.ts';

/** The market as it is; the toy exchange's book is what the bot sees of it. */
type Touch = { readonly bid: number; readonly ask: number };

const STEP_MS = 200;

class LateDesk extends ToyExchange {
  truly: Touch = { bid: 990, ask: 1010 };
  /** Refusals as they were heard of. */
  readonly refused: { readonly at: number; readonly side: Side; readonly price: number }[] = [];
  readonly sent: { readonly at: number; readonly side: Side; readonly price: number }[] = [];

  constructor(options: Partial<EngineOptions> = {}) {
    const onNews = (news: EngineNews) => this.#hear(news);
    super({ isTraced: true, strategy: quoteAround(2), onNews, ...options });
    this.showsOwn = false;
    this.fateOfPlace = command => this.#fateOf(command);
    this.open();
  }

  #fateOf({ side, price }: PlaceCommand): Fate {
    this.sent.push({ at: this.now, side, price });
    const crosses = side === 'buy' ? price >= this.truly.ask : price <= this.truly.bid;
    return crosses ? 'canceled on arrival' : 'done';
  }

  #hear(news: EngineNews): void {
    if (news.kind !== 'order' || news.news.kind !== 'ended') return;
    const { side, price, id } = news.news.order;
    if (news.news.ending === 'canceled' && !this.canceledIds.has(id)) this.refused.push({ at: this.now, side, price });
  }

  get canceledIds(): ReadonlySet<string> {
    return new Set(this.log.flatMap(command => (command.kind === 'cancel' ? command.ids : [])));
  }

  /** The bot sees the market as it is. */
  catchUp(): this {
    this.bids = [[this.truly.bid, 50]];
    this.asks = [[this.truly.ask, 50]];
    return this.round(STEP_MS);
  }

  sentOf(side: Side): readonly number[] {
    return this.sent.filter(one => one.side === side).map(({ price }) => price);
  }
}

describe('an order that the exchange takes and cancels as post-only', () => {
  it('is not sent again while the book does not show why; the reason is told, and the other side is quoted', () => {
    const toy = new LateDesk();
    toy.truly = { bid: 980, ask: 997 };
    toy.rounds(20, STEP_MS);
    expect(toy.sentOf('buy')).toEqual([998]);
    expect(toy.prices('sell')).toEqual([1002]);
    const { decisions, unshown, emptySidesText: whyNot, silent } = toy.engine.book.snapshot(toy.now);
    expect(decisions).toContainEqual({ side: 'buy', action: 'not placed', reason: 'refused as post-only', count: 1 });
    expect(unshown.buy?.reason).toBe('post-only refused, waits for the book');
    expect(whyNot).toBe('no bid: post-only refused, waits for the book');
    expect(silent).toEqual(['bid: post-only refused, waits for the book']);
    const told = toy.engine.book.decision!.decided.filter(({ side }) => side === 'buy');
    expect(told).toMatchObject([{ action: 'not placed', reason: 'post-only refused, waits for the book', index: 0 }]);
    // The book now shows the reason, so the wanted quote is placed immediately.
    toy.catchUp().rounds(3, STEP_MS);
    expect(toy.sentOf('buy')).toEqual([998, 986]);
    expect(toy.prices('buy')).toEqual([986]);
  });

  it('is sent again after a pause when the book never shows why', () => {
    const toy = new LateDesk();
    toy.truly = { bid: 980, ask: 997 };
    toy.rounds(300, STEP_MS);
    // After 5, 10, 20 and 40 s: not each 400 ms, as its evidence takes.
    expect(toy.sentOf('buy').length).toBe(4);
    expect(toy.engine.book.haltedBecause).toBe(null);
  });

  it('or that the exchange rejects at once, which counts as no rejection of a mistake', () => {
    const halts = { refusalsPerMinute: 2, unknownsPerMinute: 99, messagesPerMinute: 999, fillsPer10Min: 99 };
    const money = { drawdownMax: 10n ** 30n, dayLossMax: 10n ** 30n };
    const toy = new LateDesk({ halts: { ...halts, ...money } as never });
    const { fateOfPlace } = toy;
    toy.fateOfPlace = command =>
      fateOfPlace(command) === 'done' ? 'done' : { code: 'would take', meaning: 'post only' };
    toy.truly = { bid: 980, ask: 997 };
    toy.rounds(300, STEP_MS);
    expect(toy.sentOf('buy').length).toBe(4);
    expect(toy.engine.book.haltedBecause).toBe(null);
    expect(toy.engine.book.snapshot(toy.now).decisions).toContainEqual({
      ...{ side: 'buy', action: 'not placed', reason: 'refused as post-only', count: 4 },
    });
    toy.catchUp().rounds(3, STEP_MS);
    expect(toy.prices('buy')).toEqual([986]);
  });

  it.each([
    ['was canceled by us', (toy: LateDesk) => void ((toy.truly = { bid: 960, ask: 980 }), toy.catchUp())],
    ['was seen in the book', (toy: LateDesk) => void toy.live.forEach(order => (order.isLive = false))],
  ])('is not what %s', (_, happens) => {
    const toy = new LateDesk();
    toy.rounds(2, STEP_MS);
    happens(toy);
    toy.rounds(20, STEP_MS);
    const { decisions } = toy.engine.book.snapshot(toy.now);
    expect(decisions.filter(({ reason }) => reason.includes('post-only'))).toEqual([]);
    expect(toy.sentOf('buy').length).toBeGreaterThan(1);
  });

  it('whatever the market does and however late the book is, nothing alike is sent before the book shows it or 5 s are over', () => {
    const moves = fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 20, maxLength: 80 });
    let refusals = 0;
    fc.assert(
      fc.property(moves, fc.integer({ min: 1, max: 15 }), (by, late) => {
        const toy = new LateDesk();
        const seen: { at: number; ask: number; bid: number }[] = [];
        const market: Touch[] = [toy.truly];
        for (const ticks of by) {
          const before = market.at(-1)!;
          market.push((toy.truly = { bid: before.bid + ticks, ask: before.ask + ticks }));
          const shown = market[Math.max(0, market.length - 1 - late)]!;
          toy.bids = [[shown.bid, 50]];
          toy.asks = [[shown.ask, 50]];
          seen.push({ at: toy.now + STEP_MS, ...shown });
          toy.round(STEP_MS);
        }
        refusals += toy.refused.length;
        for (const { at, side, price } of toy.refused) {
          const shows = (one: Touch) => (side === 'buy' ? one.ask <= price : one.bid >= price);
          const shownAt = seen.find(one => one.at > at && shows(one))?.at ?? Infinity;
          const free = Math.min(at + 5_000, shownAt);
          const alike = toy.sent.filter(
            one =>
              one.side === side &&
              one.at > at &&
              one.at < free &&
              (side === 'buy' ? one.price >= price : one.price <= price),
          );
          expect(alike).toEqual([]);
        }
      }),
      // In the example, two orders are refused: the law is never empty.
      { numRuns: 30, examples: [[[3, 5, 8, -7, -5, -4, -6, 8, 3, 8, 8, 0, 2, 4, 8, -1, 4, 6, 8, -5, -4, 0], 5]] },
    );
    expect(refusals).toBeGreaterThan(0);
  });

  it('is counted only if the exchange canceled it of itself, whatever answers are lost and whatever the bot cancels', () => {
    const fates = fc.constantFrom<Fate>('done', 'done', 'done untold', 'done untold', 'lost', 'canceled on arrival');
    const turn = fc.record({ move: fc.constantFrom(0, 0, 0, -30, 30), fate: fates, isHeard: fc.boolean() });
    const counts = { refused: 0, lost: 0 };
    fc.assert(
      fc.property(fc.array(turn, { minLength: 5, maxLength: 20 }), turns => {
        const ended: string[] = [];
        const toy = new LateDesk({ unknownMax: 9 });
        for (const { move, fate, isHeard } of turns) {
          toy.truly = { bid: toy.truly.bid + move, ask: toy.truly.ask + move };
          toy.fateOfPlace = ({ id }) => {
            if (fate === 'canceled on arrival') ended.push(id);
            counts.lost += Number(fate === 'done untold');
            return fate;
          };
          toy.fateOfCancel = () => (isHeard ? 'done' : 'done untold');
          toy.catchUp().rounds(2, STEP_MS);
          const told = toy.engine.book.snapshot(toy.now).decisions.filter(one => one.reason === 'refused as post-only');
          const refused = told.reduce((sum, { count }) => sum + count, 0);
          if (refused > ended.length) expect(refused).toBeLessThanOrEqual(ended.length);
          counts.refused += refused;
        }
      }),
      runsOf(500, 18),
    );
    expect(Math.min(counts.refused, counts.lost)).toBeGreaterThan(5);
  });
});
