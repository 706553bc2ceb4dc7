/** The golden run once more, slow and obvious: one event at a time out of four streams, books as maps, every answer a fresh object. */

export type NaiveRow = {
  readonly at: number;
  readonly local: number;
  readonly trade: boolean;
  readonly side: 'buy' | 'sell';
  readonly tick: number;
  readonly lots: number;
};

export type NaiveOptions = {
  readonly halfSpreadTicks: number;
  readonly interval: number;
  readonly latency: number;
  readonly orderLots: number;
  readonly positionMaxLots: number;
};

type Resting = { id: number; side: 'buy' | 'sell'; tick: number; front: number; cum: number };
type Request = { at: number; kind: 'new' | 'cancel'; id: number; side: 'buy' | 'sell'; tick: number };
type Answer = { at: number; id: number; status: 'open' | 'over' | 'filled'; tick: number; side: 'buy' | 'sell' };
type Mine = { id: number; side: 'buy' | 'sell'; tick: number; status: 'sent' | 'open' | 'leaving' | 'over' };
type Book = { bids: Map<number, number>; asks: Map<number, number> };

const bestBid = (book: Book): number => Math.max(-Infinity, ...book.bids.keys());
const bestAsk = (book: Book): number => Math.min(Infinity, ...book.asks.keys());

export function naiveGolden(rows: readonly NaiveRow[], options: NaiveOptions) {
  const { halfSpreadTicks, interval, latency, orderLots, positionMaxLots } = options;
  const truth: Book = { bids: new Map(), asks: new Map() };
  const seen: Book = { bids: new Map(), asks: new Map() };
  const resting: Resting[] = [];
  const requests: Request[] = [];
  const answers: Answer[] = [];
  let mine: Mine[] = [];
  let exchangeRow = 0;
  let localRow = 0;
  let nextId = 1;
  let position = 0;
  let cash = 0n;
  let turnover = 0n;
  const count = { steps: 0, submits: 0, cancels: 0, fills: 0, volumeLots: 0 };

  const fill = (order: Resting, at: number): void => {
    resting.splice(resting.indexOf(order), 1);
    answers.push({ at: at + latency, id: order.id, status: 'filled', tick: order.tick, side: order.side });
  };

  const setLevel = (book: Book, row: NaiveRow): number => {
    const levels = row.side === 'buy' ? book.bids : book.asks;
    const before = levels.get(row.tick) ?? 0;
    if (row.lots > 0) levels.set(row.tick, row.lots);
    else levels.delete(row.tick);
    return before;
  };

  const happen = (row: NaiveRow): void => {
    if (row.trade) {
      for (const order of [...resting]) {
        if (order.side === row.side) continue;
        const beyond = row.side === 'buy' ? order.tick < row.tick : order.tick > row.tick;
        if (beyond) fill(order, row.at);
        else if (order.tick === row.tick) {
          order.front -= row.lots;
          order.cum += row.lots;
          if (Math.round(-order.front) > 0) fill(order, row.at);
        }
      }
      return;
    }
    const before = setLevel(truth, row);
    for (const order of resting) {
      if (order.side !== row.side || order.tick !== row.tick) continue;
      const canceled = before - row.lots - order.cum;
      order.cum = 0;
      if (canceled < 0) {
        order.front = Math.min(order.front, row.lots);
        continue;
      }
      const back = before - order.front;
      const behind = back ** 2 / (back ** 2 + order.front ** 2);
      const moved = order.front - (1 - behind) * canceled + Math.min(back - behind * canceled, 0);
      order.front = Number.isNaN(moved) ? row.lots : Math.min(moved, row.lots);
    }
    if (row.lots === 0) return;
    for (const order of [...resting]) {
      if (order.side === 'sell' && row.side === 'buy' && order.tick <= row.tick) fill(order, row.at);
      if (order.side === 'buy' && row.side === 'sell' && order.tick >= row.tick) fill(order, row.at);
    }
  };

  const arrive = (request: Request): void => {
    const { at, id, side, tick } = request;
    const answer = (status: Answer['status']): void => void answers.push({ at: at + latency, id, status, tick, side });
    const order = resting.find(one => one.id === id);
    if (request.kind === 'cancel') {
      if (order) resting.splice(resting.indexOf(order), 1);
      return answer('over');
    }
    if (side === 'buy' ? tick >= bestAsk(truth) : tick <= bestBid(truth)) return answer('over');
    const levels = side === 'buy' ? truth.bids : truth.asks;
    resting.push({ id, side, tick, front: levels.get(tick) ?? 0, cum: 0 });
    return answer('open');
  };

  const hear = (answer: Answer): void => {
    const order = mine.find(one => one.id === answer.id);
    if (answer.status === 'filled') {
      const value = BigInt(answer.tick) * BigInt(orderLots);
      const buy = answer.side === 'buy';
      count.fills++;
      count.volumeLots += orderLots;
      position += buy ? orderLots : -orderLots;
      cash += buy ? -value : value;
      turnover += value;
    }
    if (!order) return;
    if (answer.status === 'open') {
      if (order.status === 'sent') order.status = 'open';
    } else order.status = 'over';
  };

  const decide = (now: number): void => {
    mine = mine.filter(order => order.status !== 'over');
    const bid = bestBid(seen);
    const ask = bestAsk(seen);
    if (bid === -Infinity || ask === Infinity) return;
    const mid = (bid + ask) / 2;
    const lean = position / orderLots / 2;
    const wanted = {
      buy: Math.min(Math.floor(mid - halfSpreadTicks - lean), bid),
      sell: Math.max(Math.ceil(mid + halfSpreadTicks - lean), ask),
    };
    const may = { buy: position < positionMaxLots, sell: position > -positionMaxLots };
    const held = new Set(mine.map(order => order.tick));
    for (const order of mine) {
      if (order.status !== 'open' || (may[order.side] && order.tick === wanted[order.side])) continue;
      order.status = 'leaving';
      count.cancels++;
      requests.push({ ...order, at: now + latency, kind: 'cancel' });
    }
    for (const side of ['buy', 'sell'] as const) {
      if (!may[side] || held.has(wanted[side])) continue;
      const order = { id: nextId++, side, tick: wanted[side] };
      count.submits++;
      mine.push({ ...order, status: 'sent' });
      requests.push({ ...order, at: now + latency, kind: 'new' });
    }
  };

  let wake = rows[0]!.at + interval;
  for (;;) {
    const due = [
      localRow < rows.length ? rows[localRow]!.local : Infinity,
      answers[0]?.at ?? Infinity,
      exchangeRow < rows.length ? rows[exchangeRow]!.at : Infinity,
      requests[0]?.at ?? Infinity,
    ];
    const first = Math.min(...due);
    if (first === Infinity) break;
    if (first > wake) {
      count.steps++;
      decide(wake);
      wake += interval;
      continue;
    }
    switch (due.indexOf(first)) {
      case 0: {
        const row = rows[localRow++]!;
        if (!row.trade) setLevel(seen, row);
        break;
      }
      case 1:
        hear(answers.shift()!);
        break;
      case 2:
        happen(rows[exchangeRow++]!);
        break;
      default:
        arrive(requests.shift()!);
    }
  }
  return { ...count, positionLots: position, cash, turnover };
}
