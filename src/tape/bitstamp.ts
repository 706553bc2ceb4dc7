/** Imports a Bitstamp log: polled books of 20 levels, every order event, and trades without a side. */
import type { Amount, DecimalText, Price } from '../core/index.ts';
import { lotsOf, plainText, ticksOf } from './digits.ts';
import { finishTape } from './finish.ts';
import { eachLine } from './lines.ts';
import { KIND, SIDE, TapeBuilder } from './tape.ts';
import type { SideCode, Tape } from './tape.ts';
import { tapeRules } from './tapeRules.ts';

const TICK: DecimalText = '0.01';
/** An order that shrank longer ago than this has nothing to do with the trade. */
const SAME_MATCH_MS = 5_000;

type OrderEvent = { readonly price: string; readonly amount: string; readonly id: number; readonly order_type: 0 | 1 };
type BookEvent = { readonly bids: readonly [string, string][]; readonly asks: readonly [string, string][] };
type Shrunk = { readonly at: number; readonly id: number; readonly price: Price; readonly side: SideCode };

/**
 * The only times given to the millisecond are the recorder's own, so they serve as exchange time too. A trade's taker is found
 * from the orders that shrank just before it: of those at the trade's price, the oldest rested, and the taker stood against it.
 */
export async function importBitstamp(files: { log: string; book: string }): Promise<Tape> {
  const { instrument } = tapeRules(files.book, TICK);
  const tape = new TapeBuilder();
  const shrunk: Shrunk[] = [];
  let noisy = 0;
  const onNoise = () => noisy++;

  const onBook = (at: number, event: BookEvent) => {
    tape.clear(at, at);
    for (const [price, size] of event.bids) {
      tape.level(at, at, SIDE.buy, ticksOf(instrument, price), lotsOf(instrument, size));
    }
    for (const [price, size] of event.asks) {
      tape.level(at, at, SIDE.sell, ticksOf(instrument, price), lotsOf(instrument, size));
    }
  };
  const onOrder = (at: number, kind: typeof KIND.add | typeof KIND.change | typeof KIND.remove, event: OrderEvent) => {
    const side = event.order_type === 0 ? SIDE.buy : SIDE.sell;
    const price = ticksOf(instrument, plainText(event.price, onNoise));
    const left = lotsOf(instrument, plainText(event.amount, onNoise));
    tape.order(kind, at, at, side, price, left, event.id);
    if (kind === KIND.change || (kind === KIND.remove && left === 0)) {
      shrunk.push({ at, id: event.id, price, side });
      if (shrunk.length > 16) shrunk.shift();
    }
  };
  const takerOf = (at: number, price: Price): SideCode => {
    const recent = shrunk.filter(order => order.price === price && at - order.at <= SAME_MATCH_MS);
    const maker = recent.reduce<Shrunk | undefined>((old, one) => (old && old.id < one.id ? old : one), undefined);
    return maker === undefined ? SIDE.unknown : maker.side === SIDE.buy ? SIDE.sell : SIDE.buy;
  };
  const onTrade = (at: number, priceText: string, amountText: string, id: number) => {
    const price = ticksOf(instrument, plainText(priceText, onNoise));
    const size: Amount = lotsOf(instrument, plainText(amountText, onNoise));
    tape.trade(at, at, takerOf(at, price), price, size, id);
    shrunk.length = 0;
  };

  await eachLine(files.log, line => {
    const match = /^(\d{13}) (\w+) (\{.*\})$/.exec(line);
    if (!match) throw new RangeError(`expected "epoch_ms event json"`);
    const at = Number(match[1]);
    const event = match[2]!;
    const json = match[3]!;
    if (event === 'order_book') onBook(at, JSON.parse(json) as BookEvent);
    else if (event === 'order_created') onOrder(at, KIND.add, JSON.parse(json) as OrderEvent);
    else if (event === 'order_changed') onOrder(at, KIND.change, JSON.parse(json) as OrderEvent);
    else if (event === 'order_deleted') onOrder(at, KIND.remove, JSON.parse(json) as OrderEvent);
    else if (event === 'trade') {
      // Numbers, not text: taken from the line itself, because JSON.parse would go through a double.
      const trade = /"price": ?([\d.eE+-]+), "amount": ?([\d.eE+-]+), "id": ?(\d+)/.exec(json);
      if (!trade) throw new RangeError(`expected a trade with price, amount and id`);
      onTrade(at, trade[1]!, trade[2]!, Number(trade[3]));
    } else throw new RangeError(`unknown event ${event}`);
  });

  return finishTape({
    source: files.log,
    book: files.book,
    tick: TICK,
    columns: tape.columns(),
    depth: 20,
    dirt: [
      {
        what: 'numbers printed as 17-digit doubles',
        count: noisy,
        done: 'read as the shortest text of the same double',
      },
      { what: 'times going backwards', count: tape.backwards, done: 'set to the time before' },
    ],
  });
}
