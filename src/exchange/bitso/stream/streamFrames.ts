/**
 * Reader of stream frames, as strict as the readers of replies: exact values, or a WireFault with the field (public
 * facts 12).
 */
import {
  isDecimalText,
  type BookDiff,
  type OrderChange,
  type Side,
  type StreamTrade,
  type UnreadableRow,
} from '../../../core/index.ts';
import { parsedFrame } from '../../wire/frames.ts';
import * as wire from '../../wire/wire.ts';
import type { Row } from '../../wire/wire.ts';

export type StreamFrame =
  | { readonly kind: 'keep alive' }
  /**
   * Answer to a subscription. `error` is undefined if the exchange accepted the subscription or had already accepted
   * it.
   */
  | { readonly kind: 'answer'; readonly action?: string; readonly type?: string; readonly error?: string }
  | { readonly kind: 'diff'; readonly diff: BookDiff }
  | {
      readonly kind: 'trades';
      readonly book: string;
      readonly trades: readonly StreamTrade[];
      readonly unreadable: readonly UnreadableRow[];
    }
  /** Frame of a type that Puntas does not use. */
  | { readonly kind: 'other' };

/** Maximum length of an id. The exchange's ids have 16 characters, older ids 64. */
const ID_MAX = 64;

/** Reads a frame. Throws a WireFault if the text is not JSON, or not in the shape of its type. */
export function streamFrame(text: string): StreamFrame {
  const of = wire.row(parsedFrame(text), 'frame');
  const type = of['type'];
  if (type === 'ka') return { kind: 'keep alive' };
  if (of['action'] !== undefined || of['error'] !== undefined) return answer(of);
  if (type === 'diff-orders') return { kind: 'diff', diff: diff(of) };
  if (type === 'trades') return trades(of);
  return { kind: 'other' };
}

function answer(of: Row): StreamFrame {
  const error = of['error'];
  return {
    kind: 'answer',
    ...wire.present({
      action: wire.optional(of, 'action', wire.text),
      type: wire.optional(of, 'type', wire.text),
      error:
        error === undefined ? undefined : typeof error === 'string' ? error.slice(0, 200) : 'an error without text',
    }),
  };
}

const diff = (of: Row): BookDiff => ({
  book: wire.filled(of, 'book'),
  sequence: wire.integer(of, 'sequence'),
  changes: wire.list(of['payload'], element => change(wire.row(element))),
  ...wire.present({ sentAt: wire.optional(of, 'sent', wire.count) }),
});

/**
 * Reads a change of an order. If the order is not open, reads only id and status, because the frame may lack the other
 * fields (public facts 12.5).
 */
function change(of: Row): OrderChange {
  const oid = id(of, 'o');
  const status = wire.text(of, 's');
  if (status !== 'open') return { kind: 'gone', oid, filled: status === 'completed' };
  const amount = of['a'];
  return {
    kind: 'open',
    oid,
    side: side(of),
    price: wire.decimal(of, 'r'),
    amount: isDecimalText(amount) ? amount : null,
  };
}

function trades(of: Row): StreamFrame {
  const book = wire.filled(of, 'book');
  const unreadable: UnreadableRow[] = [];
  const read = wire.rows(of['payload'], element => trade(book, wire.row(element)), unreadable);
  return { kind: 'trades', book, trades: read, unreadable };
}

/** Reads a trade; `t` is the taker's side (public facts 12.3). */
const trade = (book: string, of: Row): StreamTrade => ({
  book,
  // REST reports the trade under an equal id, by which the bot recognizes its own trades.
  tid: wire.integer(of, 'i').toString(),
  createdAt: wire.count(of, 'x'),
  price: wire.decimal(of, 'r'),
  amount: wire.decimal(of, 'a'),
  makerSide: side(of) === 'buy' ? 'sell' : 'buy',
  makerOid: id(of, 'mo'),
  takerOid: id(of, 'to'),
});

function side(of: Row): Side {
  const digit = wire.count(of, 't');
  if (digit !== 0 && digit !== 1) throw wire.fault('t', '0 or 1', of['t']);
  return digit === 0 ? 'buy' : 'sell';
}

function id(of: Row, field: string): string {
  const value = wire.filled(of, field);
  if (value.length > ID_MAX) throw wire.fault(field, `at most ${ID_MAX} characters`, value);
  return value;
}
