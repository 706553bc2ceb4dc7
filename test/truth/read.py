#!/usr/bin/env python3
"""Second reader of logs of single orders: the fate of each order that came to rest, as JSON.

Usage: read.py DIR. Standard library only. It shares no code and no file with the importer of Puntas, and
decides who was resting in another way: from the two orders of a match, never from the book. Formats:

- `*.log.gz`, Bitstamp 2015: lines of `epoch_ms event json`. A trade names no orders. A match shrinks two orders of different sides
  by one amount, and then prints the trade. Ids grow, so the older of the two was resting.
- `orders.csv.gz` and `trades.csv.gz`, Bitstamp 2026: a trade names the orders of both sides, and the side of the taker.

Output, as JSON:
- `orders`, in order of arrival: [arrival, side, price, lots, filled, time of the last fill or null, steps, id, passed]. Times are epoch
  ms, prices ticks, amounts lots of 1e-8. A step is [time, lots left]; the first is the arrival. An order that takes rests with what is
  left after its last match. `passed`: time of the first trade at a worse price after which the log never names the order again; such
  an order was already gone, and the log lost its end. Otherwise null.
- `begin`: time of the first whole book. `unmatched`: reductions without a trade, and trades without their orders.
"""
import csv
import glob
import gzip
import json
import os
import re
import sys
from decimal import Decimal

LOT = Decimal('0.00000001')
# A log of 2015 prints the trade after its match: 10 ms in the median, at most this long.
MATCH_MS = 5_000


def whole(text, unit):
    """The number in units. A double of 17 digits is read as the shortest decimal of that double."""
    number = Decimal(text)
    if len(number.as_tuple().digits) > 16:
        number = Decimal(repr(float(text)))
    count = number / unit
    if count != int(count):
        raise ValueError(f'{text} is not a multiple of {unit}')
    return int(count)


class Order:
    """One order of the log."""

    def __init__(self, ident, side, price, lots, at):
        self.ident, self.side, self.price, self.left = ident, side, price, lots
        self.arrived, self.lots = at, lots
        # [time, lots left, lots gone, whether it was resting and met], since it came to rest.
        self.changes = []
        self.took_at = None
        self.ended = False

    def change(self, at, left, is_fill):
        self.changes.append([at, left, self.left - left, is_fill])
        self.left = left

    def took(self, at, left, rests_at):
        """It was the taker of a match at `at`: it rests only with what is left, from `rests_at`."""
        self.took_at, self.arrived, self.lots, self.left, self.changes = at, rests_at, left, left, []

    def row(self):
        fills = [change for change in self.changes if change[3]]
        steps = [[self.arrived, self.lots]] + [[at, left] for at, left, _, _ in self.changes]
        filled = sum(gone for _, _, gone, _ in fills)
        last = fills[-1][0] if fills else None
        return [self.arrived, self.side, self.price, self.lots, filled, last, steps, self.ident, None]


def rows_of(found, trades):
    """Rows of the orders that rested. `trades` are (time, price, ...), in order of time."""
    rows = []
    for order in found:
        if order.lots == 0:
            continue
        row = order.row()
        if not order.ended:
            since = row[6][-1][0]
            sign = 1 if order.side == 'sell' else -1
            row[8] = next((at for at, price, *_ in trades if at > since and price * sign > order.price * sign), None)
        rows.append(row)
    return rows


def read_2015(path):
    tick = Decimal('0.01')
    events, trades, reductions, known, market_orders, begin = [], [], [], {}, set(), None
    with gzip.open(path, 'rt') as lines:
        for line in lines:
            at_text, event, body = line.split(' ', 2)
            at = int(at_text)
            if event == 'order_book':
                begin = at if begin is None else begin
                continue
            if event == 'trade':
                told = dict(re.findall(r'"(price|amount|id)": ?([\d.eE+-]+)', body))
                trades.append((at, whole(told['price'], tick), whole(told['amount'], LOT)))
                continue
            told = json.loads(body)
            ident, side = told['id'], 'buy' if told['order_type'] == 0 else 'sell'
            price, left = whole(told['price'], tick), whole(told['amount'], LOT)
            old_price, old_left = known.get(ident, (None, None))
            # A delete with an amount is a cancel; one without is the end of a match.
            is_cancel = event == 'order_deleted' and left > 0
            if event == 'order_changed' and old_price not in (None, price):
                # A market order goes to the next level, and its amount may be computed anew from its value: no match yet.
                market_orders.add(ident)
            elif event != 'order_created' and not (is_cancel and ident not in market_orders):
                # The end of a market order can be its last match and the cancel of a rest.
                gone = None if is_cancel or old_left is None else old_left - left
                reductions.append((at, ident, side, price, gone, len(events)))
            events.append((at, event, ident, side, price, 0 if is_cancel else left))
            known[ident] = (price, left)
    roles, unmatched = matches(trades, reductions, market_orders)
    orders, found = {}, []
    for n, (at, event, ident, side, price, left) in enumerate(events):
        order = orders.get(ident)
        if event == 'order_created':
            if order is None and ident not in market_orders:
                orders[ident] = Order(ident, side, price, left, at)
                found.append(orders[ident])
            continue
        if order is None:
            continue
        role, trade_at = roles.get(n, (None, None))
        if role == 'taker':
            order.took(at, left, trade_at)
        elif left != order.left:
            order.change(at, left, role == 'maker')
        if event == 'order_deleted':
            orders.pop(ident).ended = True
    return rows_of(found, trades), unmatched, begin


def matches(trades, reductions, market_orders):
    """The two orders of each trade: those of different sides that shrank by its amount, nearest to it in time. The older
    rested, unless it was a market order. An order of before the log, or one that ends with a rest, has no known amount, and fits a trade at its own price. Returns roles by event, and what is left over."""
    roles, unmatched, used = {}, [], set()

    def rank(one):
        return (one[1] in market_orders, one[1])

    for at, price, lots in trades:
        near = [
            one for one in reductions
            if one[5] not in used and abs(at - one[0]) <= MATCH_MS and (one[3] == price if one[4] is None else one[4] == lots)
        ]
        pairs = [(a, b) for a in near for b in near if rank(a) < rank(b) and a[2] != b[2]]
        if not pairs:
            unmatched.append([at, 'trade without its two orders', [one[1] for one in near]])
            continue
        older, younger = min(pairs, key=lambda pair: sum(abs(at - one[0]) + (MATCH_MS if one[4] is None else 0) for one in pair))
        used.update((older[5], younger[5]))
        roles[older[5]], roles[younger[5]] = ('maker', at), ('taker', at)
    unmatched.extend([one[0], 'reduction without a trade', one[1]] for one in reductions if one[5] not in used)
    return roles, unmatched


def read_2026(orders_path, trades_path):
    tick = Decimal(1)
    takes, meets, trades, unmatched, begin = {}, {}, [], [], None
    with gzip.open(trades_path, 'rt') as lines:
        for told in csv.DictReader(lines):
            at, lots = int(told['exchange_timestamp']), whole(told['amount'], LOT)
            trades.append((at, whole(told['price'], tick)))
            taker, maker = ('buy_order_id', 'sell_order_id') if told['side'] == 'buy' else ('sell_order_id', 'buy_order_id')
            takes.setdefault(int(told[taker]), []).append((at, lots))
            meets.setdefault(int(told[maker]), []).append((at, lots))
    orders, found = {}, []
    with gzip.open(orders_path, 'rt') as lines:
        for told in csv.DictReader(lines):
            at, ident = int(told['exchange_timestamp']), int(told['id'])
            begin = at if begin is None else begin
            price, left = whole(told['price'], tick), whole(told['volume'], LOT)
            order = orders.get(ident)
            if told['action'] == 'created':
                if order is None:
                    orders[ident] = Order(ident, 'buy' if told['direction'] == 'bid' else 'sell', price, left, at)
                    found.append(orders[ident])
                continue
            if order is None:
                continue
            if told['action'] == 'deleted':
                orders.pop(ident).ended = True
                if left > 0:
                    # What a taker cancels in the millisecond of its last match never rested.
                    if order.took_at == at:
                        order.lots = 0
                    else:
                        order.change(at, 0, False)
                    continue
            if order.left == 0:
                # A market order of a value: the log never tells its amount.
                takes.pop(ident, None)
                continue
            match = (at, order.left - left)
            if match in takes.get(ident, []):
                takes[ident].remove(match)
                order.took(at, left, at)
            elif match in meets.get(ident, []):
                meets[ident].remove(match)
                order.change(at, left, True)
            elif left != order.left:
                unmatched.append([at, 'reduction without a trade', ident])
                order.change(at, left, False)
    for what, by_id in (('taker', takes), ('maker', meets)):
        for ident, rest in by_id.items():
            unmatched.extend([at, f'trade without its {what}', ident] for at, _ in rest)
    return rows_of(found, trades), unmatched, begin


def main():
    folder = sys.argv[1]
    logs = sorted(glob.glob(os.path.join(folder, '*.log.gz')))
    if logs:
        orders, unmatched, begin = read_2015(logs[0])
    else:
        orders, unmatched, begin = read_2026(*(os.path.join(folder, name) for name in ('orders.csv.gz', 'trades.csv.gz')))
    # In order of arrival; the sort keeps the order of the log among equal times.
    json.dump({'begin': begin, 'orders': sorted(orders, key=lambda one: one[0]), 'unmatched': unmatched}, sys.stdout)


if __name__ == '__main__':
    main()
