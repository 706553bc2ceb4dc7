/** Panels of the market and the bot's orders in it: the book, the computation of each level's price, orders. */
import { div, h, none, sideText, small, tableOf, type Node, type Panel } from './elements.ts';
import { age, trimmed, fixed, withSign } from './texts.ts';
import type { DepthRow, ShownLevel, ShownStep } from './view.ts';

/** Book with the amounts of other traders and of the bot; the bar behind a row is proportional to its amount. */
export const depthPanel: Panel = ({ depth: { bids, asks }, orders, decision, major }) => {
  const most = Math.max(1e-12, ...[...bids, ...asks].map(({ others, ours }) => Number(others) + Number(ours ?? 0)));
  const row = (side: 'bid' | 'ask') => (at: DepthRow) => {
    const own = orders.filter(order => order.side === side && order.price === at.price);
    const width = (amount: string | null) => ({ width: `${(100 * Number(amount ?? 0)) / most}%` });
    return h(
      'tr',
      { class: at.ours === null ? side : `${side} own`, key: `${side} ${at.price}` },
      h('td', null, at.price),
      h(
        'td',
        { class: 'bar' },
        h('i', { style: width(at.others) }),
        small('', Number(at.others) === 0 ? '' : fixed(at.others, 4)),
      ),
      h('td', null, at.ours === null ? '' : h('b', null, trimmed(at.ours))),
      h('td', { class: 'soft' }, own.map(({ ahead }) => (ahead === null ? '' : aheadText(ahead))).join(', ')),
      h('td', { class: 'soft' }, own.map(({ ageMs }) => age(ageMs)).join(', ')),
    );
  };
  const { bid, ask } = decision.market;
  const between =
    bid === null || ask === null ? 'one side of the book is empty' : `${fixed((Number(bid) + Number(ask)) / 2, 2)}`;
  return h(
    'table',
    { class: 'depth' },
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        ...['price', `others, ${major}`, "the bot's", 'ahead', 'age'].map(name => h('th', { scope: 'col' }, name)),
      ),
    ),
    h(
      'tbody',
      null,
      ...[...asks].reverse().map(row('ask')),
      h('tr', { class: 'mid', key: 'mid' }, h('td', { colSpan: 5 }, between)),
      ...bids.map(row('bid')),
    ),
  );
};

/** Returns the name of a level for `State.chosen`. */
export const nameOfLevel = ({ side, level }: ShownLevel): string => `${side} ${level ?? 'all'}`;

/** Computation of a level's price from the fair value, one bar per step; each bar starts where the previous ends. */
export const levelsPanel: Panel = ({ decision: { levels: all, tick, refusal } }, state) => {
  if (all.length === 0) return none(refusal === null ? 'no decision yet' : `not quoting: ${refusal}`);
  const chosen =
    all.find(one => nameOfLevel(one) === state.chosen) ??
    all.find(({ side, level }) => side === 'bid' && level === 1) ??
    all[0]!;
  return [
    div(
      'tabs',
      ...all.map(one =>
        h(
          'button',
          {
            type: 'button',
            key: nameOfLevel(one),
            class: one.side,
            'aria-pressed': one === chosen,
            onClick: () => state.choose(nameOfLevel(one)),
          },
          nameOfLevel(one),
          small('soft', ` ${one.decision}`),
        ),
      ),
    ),
    h(
      'p',
      null,
      h('b', null, chosen.price ?? 'no price'),
      chosen.amount === null ? '' : ` · ${trimmed(chosen.amount)}`,
      small('soft', ` · ${chosen.decision}: ${chosen.reason}${chosen.detail === null ? '' : ` (${chosen.detail})`}`),
      chosen.order === null ? '' : small('soft', ` · order ${chosen.order.id}, ${chosen.order.now}`),
    ),
    chosen.steps.length === 0 ? none('no price was computed for this level') : waterfall(chosen.steps, tick),
  ];
};

function waterfall(steps: readonly ShownStep[], tick: string): Node {
  const [base, ...moves] = steps;
  let at = 0;
  const bars = moves.map(({ name, ticks }) => {
    const from = at;
    at += ticks;
    return { name, ticks, from, to: at };
  });
  const low = Math.min(0, ...bars.map(({ to }) => to));
  const wide = Math.max(0, ...bars.map(({ to }) => to)) - low || 1;
  const place = (from: number, to: number) => ({
    // With these limits, a bar of minimum width stays within the track.
    left: `${Math.min(99.4, (100 * (Math.min(from, to) - low)) / wide)}%`,
    width: `${Math.max(0.6, (100 * Math.abs(to - from)) / wide)}%`,
  });
  const row = (name: string, value: Node, style: Record<string, string>, kind: string) =>
    h(
      'tr',
      null,
      h('th', { scope: 'row' }, name),
      h('td', null, value),
      h('td', { class: 'bar' }, div('track', h('i', { class: kind, style }))),
    );
  return h(
    'table',
    { class: 'waterfall' },
    h('caption', null, `computation of this level's price, in ticks of ${tick}`),
    h(
      'tbody',
      null,
      row(base!.name, fixed(base!.ticks, 2), place(0, 0), 'soft'),
      ...bars.map(({ name, ticks, from, to }) =>
        row(name, withSign(ticks, 2), place(from, to), ticks < 0 ? 'down' : 'up'),
      ),
      row('price', h('b', null, fixed(base!.ticks + at, 2)), place(at, at), 'ink'),
    ),
  );
}

/** All active orders of the bot. */
export const ordersPanel: Panel = ({ orders: all, major, budgets }) =>
  all.length === 0
    ? none('the bot has no open order')
    : [
        tableOf(
          ['', 'price', major, 'filled', 'ahead', 'age', 'state'],
          all.map(({ side, price, amount, filled, ahead, ageMs, state }) => [
            sideText(side),
            price,
            trimmed(amount),
            Number(filled) === 0 ? '' : trimmed(filled),
            ahead === null ? '–' : aheadText(ahead),
            age(ageMs),
            small('soft', state),
          ]),
        ),
        budgets === null || (budgets.queueAhead.bid === null && budgets.queueAhead.ask === null)
          ? null
          : h(
              'p',
              { class: 'soft' },
              `queue ahead of the bot's best order, from the stream: bid ${amountText(budgets.queueAhead.bid)}, ask ${amountText(budgets.queueAhead.ask)} ${major}`,
            ),
      ];

/** Formats the maximum amount of other traders' orders ahead of an order of the bot. */
const aheadText = (ahead: string): string => {
  const most = Number(ahead);
  if (!(most > 0)) return 'first';
  // The amount is an upper bound, so it is rounded up, to two digits.
  const step = 10 ** (Math.floor(Math.log10(most)) - 1);
  return `≤ ${Number((Math.ceil(most / step - 1e-9) * step).toPrecision(2))}`;
};
const amountText = (of: number | null): string => (of === null ? '–' : String(Number(of.toPrecision(4))));
