/**
 * The matching engine on a public benchmark (flash1-dev/matching-engine-benchmark, MIT): the hash of all its reports is the published one, and at drawn
 * moments the book is the naive one.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { amount, price, randomOf } from '../../../src/core/index.ts';
import { MatchingBook } from '../../../src/sandbox/matching/matching.ts';
import { NaiveBook } from './naiveBook.ts';

const FOLDER = fileURLToPath(new URL('../../../../shared/bench/matching', import.meta.url));
const isThere = existsSync(FOLDER);
const SCENARIOS = {
  static: '9803843ee404fc29c9a0aa5614f8f0d5a58b5c44fcac9ef89067886fcaaa30d1',
  'swing-25': '61a84be9469661bd039e00dbc9a7c011e70b6ace37aadfe60045ea083b05f4df',
};

type Messages = {
  readonly count: number;
  readonly kind: Uint8Array;
  readonly quantity: Uint8Array;
  readonly id: Uint32Array;
  readonly price: Uint32Array;
};

function messagesOf(scenario: string): Messages {
  const bytes = gunzipSync(readFileSync(`${FOLDER}/${scenario}.msgs.gz`));
  expect(bytes.toString('latin1', 0, 4)).toBe('PMW1');
  const count = bytes.readUInt32LE(4);
  const column = (from: number) =>
    new Uint32Array(bytes.buffer.slice(bytes.byteOffset + from, bytes.byteOffset + from + 4 * count));
  return {
    count,
    kind: bytes.subarray(8, 8 + count),
    quantity: bytes.subarray(8 + count, 8 + 2 * count),
    id: column(8 + 2 * count),
    price: column(8 + 6 * count),
  };
}

const [NEW, CANCEL] = [0, 1];
const isSell = (kind: number) => (kind & 4) !== 0;
const isImmediate = (kind: number) => (kind & 8) !== 0;

describe.skipIf(!isThere)('the public matching benchmark', () => {
  test.each(Object.entries(SCENARIOS))('%s: the reports have the published hash', (scenario, expected) => {
    const messages = messagesOf(scenario);
    const hash = createHash('sha256');
    const ids = new Map<number, number>();
    const names = new Map<number, number>();
    let seq = 0;
    let taker = 0;
    let trades: string[] = [];
    const book = new MatchingBook({
      executed: (maker, _mo, _t, _to, at, traded, makerLeft) => {
        const name = names.get(maker)!;
        trades.push(`1,${seq},${at},${traded},${name},${taker}`);
        if (makerLeft === 0) forget(name, maker);
      },
      prevented: () => expect.unreachable(),
    });
    const forget = (name: number, id: number) => {
      if (ids.get(name) === id) ids.delete(name);
      names.delete(id);
    };
    let isFirst = true;
    for (; seq < messages.count; seq++) {
      const kind = messages.kind[seq]!;
      const [id, at, quantity] = [messages.id[seq]!, messages.price[seq]!, messages.quantity[seq]!];
      const side = isSell(kind) ? 'sell' : 'buy';
      taker = id;
      trades = [];
      const before: string[] = [];
      const after: string[] = [];
      if ((kind & 3) === NEW) {
        before.push(`0,${seq},${isSell(kind) ? 1 : 0},${id},${at},${quantity}`);
        const placed = book.place(side, price(at), amount(quantity), isImmediate(kind) ? 'IOC' : 'GTC', 0, 0);
        if (book.rested > 0) {
          ids.set(id, placed);
          names.set(placed, id);
        } else if (isImmediate(kind) && book.traded < quantity)
          after.push(`2,${seq},${isSell(kind) ? 1 : 0},${id},${at}`);
      } else {
        const known = ids.get(id);
        const found = known === undefined ? undefined : book.find(known);
        if (known === undefined || found === undefined) after.push(`${(kind & 3) === CANCEL ? 4 : 5},${seq},${id}`);
        else if ((kind & 3) === CANCEL) {
          book.cancel(known);
          forget(id, known);
          after.push(`2,${seq},${found.side === 'sell' ? 1 : 0},${id},${found.price}`);
        } else {
          book.modify(known, price(at), amount(quantity), 'GTC');
          if (book.rested === 0) forget(id, known);
          after.push(`3,${seq},${found.side === 'sell' ? 1 : 0},${id},${at},${quantity}`);
        }
      }
      for (const line of [...before, ...trades, ...after]) {
        hash.update(isFirst ? line : `\n${line}`);
        isFirst = false;
      }
    }
    expect(hash.digest('hex')).toBe(expected);
  });

  test.each(Object.keys(SCENARIOS))('%s: at drawn moments the book is the naive one', scenario => {
    const messages = messagesOf(scenario);
    const random = randomOf(26);
    const naive = new NaiveBook();
    const ids = new Map<number, number>();
    const names = new Map<number, number>();
    const book = new MatchingBook({ executed: () => undefined, prevented: () => undefined });
    let next = 0;
    let looks = 0;
    const LAST = 200_000;
    for (let seq = 0; seq < LAST; seq++) {
      const kind = messages.kind[seq]!;
      const [id, at, quantity] = [messages.id[seq]!, messages.price[seq]!, messages.quantity[seq]!];
      const side = isSell(kind) ? 'sell' : 'buy';
      if ((kind & 3) === NEW) {
        const placed = book.place(side, price(at), amount(quantity), isImmediate(kind) ? 'IOC' : 'GTC', 0, 0);
        ids.set(id, placed);
        names.set(placed, id);
        naive.place(id, side, at, quantity, isImmediate(kind) ? 'IOC' : 'GTC', 0);
      } else {
        const known = ids.get(id) ?? -1;
        if ((kind & 3) === CANCEL) expect(book.cancel(known)).toBe(naive.cancel(id));
        else expect(book.modify(known, price(at), amount(quantity), 'GTC')).toBe(naive.modify(id, at, quantity, 'GTC'));
      }
      if (seq !== next && seq !== LAST - 1) continue;
      next = seq + random.integer(1, 2_000);
      looks++;
      for (const of of ['buy', 'sell'] as const) {
        const rows: string[] = [];
        book.eachOrder(of, (order, _owner, level, left) => rows.push(`${names.get(order)} ${level} ${left}`) > 0);
        expect(rows).toEqual(naive.sides[of].map(({ name, price: level, left }) => `${name} ${level} ${left}`));
      }
    }
    expect(looks).toBeGreaterThan(150);
  });
});
