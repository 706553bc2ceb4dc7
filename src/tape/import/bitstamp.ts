/** Importer for a Bitstamp log: polled books of 20 levels, every order event, and trades without a side. */
import type { Instrument, Price } from '../../core/index.ts';
import { KIND, SIDE, type Kind, type SideCode } from '../model/tape.ts';
import { lotsOf, plainText, ticksOf } from './digits.ts';
import { rowsOfLines, sourceOf, type ImportReading } from './lines.ts';
import type { BookFiles, Recording } from './recording.ts';
import type { Chunk } from './rows.ts';
import { Silence } from './silence.ts';

/**
 * Time without a book after which a gap is recorded, in ms. The median time between two books is 2.4 s; the maximum in
 * a quiet market was 53 s.
 */
const GAP_MS = 5 * 60_000;
/** Maximum time between the reduction of an order and the trade that caused it, in ms. */
const SAME_MATCH_MS = 5_000;

type OrderEvent = { readonly price: string; readonly amount: string; readonly id: number; readonly order_type: 0 | 1 };
type BookEvent = { readonly bids: readonly [string, string][]; readonly asks: readonly [string, string][] };
type Shrunk = { readonly at: number; readonly id: number; readonly price: Price; readonly side: SideCode };

const ORDER_KINDS: Readonly<Record<string, Kind>> = {
  order_created: KIND.add,
  order_changed: KIND.change,
  order_deleted: KIND.remove,
};

/**
 * Opens a Bitstamp log. Only the recorder's times have milliseconds, so they are also used as exchange times. The side
 * of a trade is inferred from the orders that were reduced just before at the trade's price. The oldest of these orders
 * was resting, so the taker was on the other side.
 */
export function bitstamp({ books: logs }: BookFiles, instrument: Instrument): Recording {
  return {
    source: sourceOf(logs),
    format: 'bitstamp',
    files: logs,
    passes: 1,
    instrument,
    fromOrders: false,
    depth: 20,
    quotesOnly: false,
    notes: ['times come from the recorder, because the exchange gives only whole seconds'],
    streams: reading => [events(logs, reading)],
  };
}

function events(files: readonly string[], { instrument, findings, ...reading }: ImportReading): AsyncGenerator<Chunk> {
  const shrunk: Shrunk[] = [];
  const silence = new Silence(reading, GAP_MS, 'event');
  let place = '';
  const plain = (text: string) =>
    plainText(text, () =>
      findings.found(
        'numbers printed as 17-digit doubles',
        'replaced by the shortest decimal that gives the same double',
        place,
      ),
    );
  const takerOf = (at: number, price: Price): SideCode => {
    const recent = shrunk.filter(order => order.price === price && at - order.at <= SAME_MATCH_MS);
    const maker = recent.reduce<Shrunk | undefined>((old, one) => (old && old.id < one.id ? old : one), undefined);
    return maker === undefined ? SIDE.unknown : maker.side === SIDE.buy ? SIDE.sell : SIDE.buy;
  };
  return rowsOfLines(files, { findings, ...reading }, (line, _number, rows) => {
    const match = /^(\d{13}) (\w+) (\{.*\})$/.exec(line);
    if (!match) throw new RangeError(`expected a line of the form "epoch_ms event json"`);
    const [at, event, json] = [Number(match[1]), match[2]!, match[3]!];
    place = rows.place;
    silence.heard(at);
    const kind = ORDER_KINDS[event];
    if (kind !== undefined) {
      const order = JSON.parse(json) as OrderEvent;
      const side = order.order_type === 0 ? SIDE.buy : SIDE.sell;
      const price = ticksOf(instrument, plain(order.price));
      const left = lotsOf(instrument, plain(order.amount));
      rows.push(kind, side, at, at, price, left, order.id);
      if (kind === KIND.change || (kind === KIND.remove && left === 0)) {
        shrunk.push({ at, id: order.id, price, side });
        if (shrunk.length > 16) shrunk.shift();
      }
    } else if (event === 'order_book') {
      const { bids, asks } = JSON.parse(json) as BookEvent;
      rows.clear(at, at);
      for (const [price, size] of bids)
        rows.level(at, at, SIDE.buy, ticksOf(instrument, price), lotsOf(instrument, size));
      for (const [price, size] of asks)
        rows.level(at, at, SIDE.sell, ticksOf(instrument, price), lotsOf(instrument, size));
    } else if (event === 'trade') {
      // The log has price, amount and id as JSON numbers. These numbers are read from the text, because JSON.parse
      // would round them to doubles.
      const trade = /"price": ?([\d.eE+-]+), "amount": ?([\d.eE+-]+), "id": ?(\d+)/.exec(json);
      if (!trade) throw new RangeError('expected a trade with price, amount and id');
      const price = ticksOf(instrument, plain(trade[1]!));
      rows.trade(at, at, takerOf(at, price), price, lotsOf(instrument, plain(trade[2]!)), Number(trade[3]));
      shrunk.length = 0;
    } else throw new RangeError(`unknown event ${event}`);
  });
}
