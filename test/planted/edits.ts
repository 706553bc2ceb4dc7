/** Bugs as edits of the source, each with the test that must find it: what a careless author might have written. */

export type Edit = {
  /** The mistake, in a few words; the name by which one alone can be run. */
  readonly name: string;
  readonly file: string;
  /** Text that is in the file exactly once, and what takes its place. */
  readonly from: string;
  readonly to: string;
  /** The test file and the title of the test in it. */
  readonly test: string;
  readonly title: string;
};

export const EDITS: readonly Edit[] = [
  {
    name: 'own oids forgotten: the newest half instead of the oldest',
    file: 'src/core/orderFeed.ts',
    from: '[...known].slice(0, -OWN_MAX / 2)',
    to: '[...known].slice(OWN_MAX / 2)',
    test: 'test/core/orderFeed.test.ts',
    title: 'forgets of the oids that were told the oldest, and never one that is told again and again',
  },
  {
    name: 'own oids forgotten though they are told again and again',
    file: 'src/core/orderFeed.ts',
    from: '  known.delete(one);\n',
    to: '',
    test: 'test/core/orderFeed.test.ts',
    title: 'forgets of the oids that were told the oldest, and never one that is told again and again',
  },
  {
    name: 'a latch that the disk refused is never tried again',
    file: 'src/live/sentinel.ts',
    from: '    if (this.#owed !== null && this.#isLatched(this.#owed)) this.#owed = null;',
    to: '    if (this.#owed !== null) this.#isLatched(this.#owed);\n    this.#owed = null;',
    test: 'test/live/sentinel.test.ts',
    title: 'latches a halt that the disk did not take as soon as it takes it',
  },
  {
    name: 'verified none left with a page full of foreign orders',
    file: 'src/live/clearOut.ts',
    from: 'return outcome.value.length >= PAGE && ours.length === 0 ? null : ours;',
    to: 'return ours;',
    test: 'test/live/clearOut.test.ts',
    title: 'verifies nothing while the list of open orders is full of orders of others, and all of it once it is not',
  },
  {
    name: 'a reopened order keeps its final amount',
    file: 'src/core/orders.ts',
    from: '      order.finalFilled = null;\n',
    to: '',
    test: 'test/core/orders.test.ts',
    title: 'that is reopened is reserved for all that is not filled, whatever final amount a look-up had told',
  },
  {
    name: 'ordersMax without those in flight',
    file: 'src/core/risk.ts',
    from: 's.orders.filter(mayLive).length < limits.ordersMax',
    to: "s.orders.filter(({ state }) => state === 'open' || state === 'partially filled').length < limits.ordersMax",
    test: 'test/core/risk.test.ts',
    title: 'counts an order that is sending against ordersMax exactly while it may be in the book',
  },
  {
    name: 'the age of a book counted from its arrival',
    file: 'src/core/engine.ts',
    from: "this.#fresh.read('book', startedAt ?? at);",
    to: "this.#fresh.read('book', at);",
    test: 'test/core/engine.test.ts',
    title:
      'counts the age of a book from the start of the request that brought it, and quotes on none that is too old by that',
  },
  {
    name: 'an incomplete page of open orders makes the account fresh',
    file: 'src/core/engine.ts',
    from: "if (event.complete) this.#fresh.read('openOrders', event.startedAt);",
    to: "this.#fresh.read('openOrders', event.startedAt);",
    test: 'test/core/engine.test.ts',
    title: 'is told nothing about its account by a list of open orders that is cut',
  },
  {
    name: 'isWanted taken before the lane',
    file: 'src/exchange/ask.ts',
    from: 'const isWanted = () => question.isWanted?.() ?? true;',
    to: 'const wanted = question.isWanted?.() ?? true;\n    const isWanted = () => wanted;',
    test: 'test/exchange/ask.test.ts',
    title: 'is asked then whether it is still wanted, and leaves only if so: false',
  },
  {
    name: 'lots of a conversion rounded down',
    file: 'src/core/inFlight.ts',
    from: 'Number((sum + lotMoney - 1n) / lotMoney)',
    to: 'Number(sum / lotMoney)',
    test: 'test/core/inFlight.test.ts',
    title: 'are counted in lots that hold all of them, and in none more, on both sides',
  },
  {
    name: 'entries of an earlier keep lost after a full disk',
    file: 'src/live/journal.ts',
    from: 'booked = [...booked, ...entries];',
    to: 'booked = entries;',
    test: 'test/live/journal.test.ts',
    title: 'has every entry of every keep when there is room again',
  },
  {
    name: 'a second 420 does not prolong the pause',
    file: 'src/exchange/limit.ts',
    from: '    this.#pausedUntil = this.#clock.elapsed() + LOCK_OUT;',
    to: '    if (!(this.#clock.elapsed() < this.#pausedUntil)) this.#pausedUntil = this.#clock.elapsed() + LOCK_OUT;',
    test: 'test/exchange/limit.test.ts',
    title: 'stays paused until a minute after the last lock-out, however many there were',
  },
  {
    name: 'a heartbeat counter that fell looks dead',
    file: 'src/live/heart.ts',
    from: 'pulse.counter !== this.#last?.counter',
    to: 'pulse.counter > (this.#last?.counter ?? -1)',
    test: 'test/live/sentinel.test.ts',
    title: 'whose counter changed is life, whether it rose or fell: a state directory may have been put back',
  },
  {
    name: 'evidence counted from the end of a read of open orders',
    file: 'src/core/orders.ts',
    from: '        if (startedAt >= this.#fence(order)) order.absences++;',
    to: '        if (at >= this.#fence(order)) order.absences++;',
    test: 'test/core/orders.test.ts',
    title:
      'that is unknown is not closed while a read of open orders began before its fence, however late its answer came',
  },
  {
    name: 'evidence counted from the end of a look-up',
    file: 'src/core/orders.ts',
    from: '!present.has(id) && startedAt >= this.#fence(order)',
    to: '!present.has(id) && at >= this.#fence(order)',
    test: 'test/core/orders.test.ts',
    title: 'that is unknown is not closed while a look-up began before its fence, however late its answer came',
  },
  {
    name: 'evidence counted from the end of a cancel',
    file: 'src/core/orders.ts',
    from: "if (order?.state === 'unknown' && startedAt >= this.#fence(order)) order.emptyCancels++;",
    to: "if (order?.state === 'unknown' && at >= this.#fence(order)) order.emptyCancels++;",
    test: 'test/core/orders.test.ts',
    title:
      'that is unknown is not closed while a cancel of its own began before its fence, however late its answer came',
  },
  {
    name: 'trades settle by the end of their read',
    file: 'src/core/engine.ts',
    from: 'this.#orders.tradesRead(event.startedAt);',
    to: 'this.#orders.tradesRead(event.at);',
    test: 'test/core/engine.test.ts',
    title:
      'settles what vanished only by trades that were asked for after the settle time, not by those that came after it',
  },
  {
    name: 'a cancel says its end for its start',
    file: 'src/live/sends.ts',
    from: "{ kind: 'canceled', at: time(), startedAt, ids, outcome }",
    to: "{ kind: 'canceled', at: time(), startedAt: time(), ids, outcome }",
    test: 'test/live/sends.test.ts',
    title: 'to cancel says when it left and when it was answered',
  },
  {
    name: 'a look-up says its end for its start',
    file: 'src/live/sends.ts',
    from: "{ kind: 'looked up', at: time(), startedAt, ids, outcome }",
    to: "{ kind: 'looked up', at: time(), startedAt: time(), ids, outcome }",
    test: 'test/live/sends.test.ts',
    title: 'to look says when it left and when it was answered',
  },
  {
    name: 'absence counted before an oid is known',
    file: 'src/core/orders.ts',
    from: 'if (order.oid === null || startedAt <= order.answeredAt) return;',
    to: 'if (startedAt <= order.answeredAt) return;',
    test: 'test/core/orders.test.ts',
    title: 'that is on its way out before its placement was answered is not closed by reads that do not show it',
  },
  {
    name: 'a rebate before the first mark is forgotten',
    file: 'src/core/position.ts',
    from: '    if (this.#mark === 0n) this.#early.fees -= sum;\n    else this.#fees += sum * this.#mark;\n',
    to: '    this.#fees += sum * this.#mark;\n',
    test: 'test/core/holdings.test.ts',
    title:
      'is spread plus inventory plus hedging plus fees, and exactly the change of equity, after every fill and every mark',
  },
  {
    name: 'a rebate before the first mark is a fee',
    file: 'src/core/position.ts',
    from: 'this.#early.fees -= sum;',
    to: 'this.#early.fees += sum;',
    test: 'test/core/holdings.test.ts',
    title:
      'is spread plus inventory plus hedging plus fees, and exactly the change of equity, after every fill and every mark',
  },
  {
    name: 'FAILED outranks a later COMPLETE',
    file: 'src/core/transactions.ts',
    from: 'COMPLETE: 2, FAILED: 2',
    to: 'COMPLETE: 2, FAILED: 3',
    test: 'test/core/transactions.test.ts',
    title: 'two ends at different moments are the later one, whichever it is and in whatever order they came',
  },
  {
    name: 'the maker fee in percent',
    file: 'src/monitor/fees.ts',
    from: 'rate.set({ book }, makerRate / 1e8);',
    to: 'rate.set({ book }, makerRate / 1e6);',
    test: 'test/monitor/metrics.test.ts',
    title: 'tells a maker fee of 560000 parts of 10^-8 as the fraction 0.0056',
  },
  {
    name: 'half of a missing edge floored (ladder, bid)',
    file: 'strategies/ladder/strategy.ts',
    from: 'ticks: -missing / 2 }',
    to: 'ticks: -Math.floor(missing / 2) }',
    test: 'test/strategies/all.test.ts',
    title:
      'earns the whole of its minimum edge over both fees, to a part of a tick, before prices are put onto the grid',
  },
  {
    name: 'half of a missing edge floored (ladder, ask)',
    file: 'strategies/ladder/strategy.ts',
    from: 'ticks: missing / 2 }',
    to: 'ticks: Math.floor(missing / 2) }',
    test: 'test/strategies/all.test.ts',
    title:
      'earns the whole of its minimum edge over both fees, to a part of a tick, before prices are put onto the grid',
  },
  {
    name: 'half of a missing edge floored (the others)',
    file: 'strategies/spread.ts',
    from: 'ticks: (away * missing) / 2 }',
    to: 'ticks: away * Math.floor(missing / 2) }',
    test: 'test/strategies/all.test.ts',
    title:
      'earns the whole of its minimum edge over both fees, to a part of a tick, before prices are put onto the grid',
  },
  {
    name: 'one page of public trades only',
    file: 'src/live/tradeTail.ts',
    from: 'if (last === null || trades.value.length < PAGE) break;',
    to: 'break;',
    test: 'test/live/tradeTail.test.ts',
    title: 'tells each trade since the last read once and in order, over as many pages as it takes',
  },
  {
    name: 'the nonce mark in another unit',
    file: 'src/cli/bot.ts',
    from: 'nonceV2(clock, random, journal?.nonceMark ?? 0n)',
    to: 'nonceV2(clock, random, (journal?.nonceMark ?? 0n) / 1_000_000n)',
    test: 'test/live/recovery.test.ts',
    title: 'every nonce is above all that left before, also when the clock was set back meanwhile',
  },
];
