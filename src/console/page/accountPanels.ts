/** Panels of the account: profit by time, fills, hedges, the ledger, events. */
import { div, h, none, small, signedSum, tableOf, type Node, type Panel } from './elements.ts';
import { trimmed, clockOf, fixed, withSign, stamp, tone } from './texts.ts';
import type { ShownHour, ShownProfit } from './view.ts';

/** Profit of each hour and day, after fees, including earlier runs. */
export const profitPanel: Panel = ({ hours, days, minor, profit, unknown }) => {
  const rows = (of: readonly ShownHour[], isDay: boolean) =>
    [...of]
      .reverse()
      .map(({ from, fills, volume, trading, fees, hedging, net, spread, inventory }) => [
        isDay ? stamp(from).slice(0, 10) : stamp(from).slice(5, 16),
        h('b', null, signedSum(net)),
        signedSum(trading),
        signedSum(fees),
        Number(hedging) === 0 ? '' : signedSum(hedging),
        fixed(volume, 0),
        String(fills),
        spread === null ? '' : signedSum(spread),
        inventory === null ? '' : signedSum(inventory),
      ]);
  const names = ['net', 'trading', 'fees', 'hedging', 'volume', 'fills', 'spread', 'inventory'];
  return hours.length === 0
    ? none('no profit or loss yet')
    : [
        h(
          'p',
          { class: 'soft' },
          ...(profit === null
            ? [
                `profit since the opening of the ledger is unknown (${unknown ?? ''}); hourly and daily figures include only booked entries`,
              ]
            : sinceOpening(profit, minor)),
        ),
        div(
          'scroll',
          tableOf(
            [`day, ${minor}`, ...names.slice(0, 6)],
            rows(days, true).map(row => row.slice(0, 7)),
          ),
          tableOf([`hour, ${minor}`, ...names], rows(hours, false)),
        ),
      ];
};

const sinceOpening = ({ since, total, spread, inventory, fees, hedging, run }: ShownProfit, minor: string): Node[] => [
  `profit since the opening of the ledger${since === null ? '' : ` (${since.slice(0, 16).replace('T', ' ')} UTC)`}, ${minor}: `,
  signedSum(total),
  ` = spread ${withSign(spread, 2)}, inventory ${withSign(inventory, 2)}, fees ${withSign(fees, 2)}, hedging ${withSign(hedging, 2)}`,
  run === null ? '' : `; this run ${withSign(run.total, 2)}`,
];

/** Last fills and their 60-second markouts. */
export const fillsPanel: Panel = ({ fills: { last, markouts }, major }) => [
  h(
    'p',
    null,
    ...markouts.map(({ side, fills: count, bps }) =>
      small(
        'figure',
        small('soft', side === 'both' ? 'both sides ' : `${side} `),
        bps === null ? '–' : small(tone(bps), `${withSign(bps, 2)} bps`),
        small('soft', ` of ${count}`),
      ),
    ),
  ),
  last.length === 0
    ? none('no fill yet')
    : div(
        'scroll',
        tableOf(
          ['UTC', '', 'price', major, '60 s, bps'],
          last.map(({ at, side, price, amount, fee, role, markoutBps }) => [
            clockOf(at),
            h('span', { class: side }, `${side === 'bid' ? 'bought' : 'sold'}${role === 'taker' ? ', taker' : ''}`),
            price,
            h('span', { title: `fee ${fee}` }, trimmed(amount)),
            markoutBps === null ? small('soft', '…') : small(tone(markoutBps), withSign(markoutBps, 2)),
          ]),
          2,
        ),
      ),
];

/** Panel of hedges, newest first. */
export const hedgesPanel: Panel = ({ decision: { hedges: all }, major, minor }) =>
  all.length === 0
    ? none('no hedges yet')
    : h(
        'ul',
        { class: 'lines scroll' },
        ...[...all]
          .reverse()
          .map(({ id, at, state, amount, why, weighed }) =>
            h(
              'li',
              { key: id },
              small('soft', clockOf(at)),
              ` ${state}, ${trimmed(amount)} ${major}${why === null ? '' : `: ${why}`}`,
              ...weighed.map(({ way, cost, not }) =>
                div('soft', `${way}${cost === null ? '' : ` for ${fixed(cost, 2)} ${minor}`}: ${not ?? 'taken'}`),
              ),
            ),
          ),
      );

/** Text rounded to fit a narrow column; the tooltip has the exact text. */
const exactly = (text: string): Node =>
  h('span', { title: text }, Number(text).toLocaleString('en-US', { maximumSignificantDigits: 8 }));

/** Ledger of each currency: its balance by cause, and the difference from the exchange's balance. */
export const ledgerPanel: Panel = ({ ledger: of, decision }, { past }) => {
  const rows = (of?.rows ?? []).filter(({ causes, difference }) => causes.length > 0 || Number(difference ?? 0) !== 0);
  return of === null
    ? [
        past === null ? none('no ledger yet') : none('holdings at the selected time:'),
        tableOf(
          ['', 'held'],
          Object.entries(decision.inventory.holdings)
            .filter(([, held]) => Number(held) !== 0)
            .map(([currency, held]) => [currency, trimmed(held)]),
        ),
      ]
    : [
        tableOf(
          ['', 'balance', 'exchange', 'differs'],
          rows.map(({ currency, balance, exchange, difference }) => [
            h('span', {}, ...currency.split(/(?=@)/).flatMap(part => [h('wbr', {}), part])),
            exactly(balance),
            exchange === null ? '–' : exactly(exchange),
            difference === null
              ? small('soft', '–')
              : Number(difference) === 0
                ? small('gain', '0')
                : h('span', { class: 'loss', title: difference }, String(Number(Number(difference).toPrecision(4)))),
          ]),
        ),
        ...rows.map(({ currency, causes }) =>
          h(
            'p',
            { class: 'soft' },
            `${currency}: ${causes.map(({ cause, sum: text }) => `${cause} ${Number(Number(text).toPrecision(6))}`).join(', ')}`,
          ),
        ),
        h(
          'p',
          { class: 'soft' },
          of.checkedAt === null
            ? 'balances not compared with the exchange yet'
            : `balances compared with the exchange at ${stamp(of.checkedAt)}`,
        ),
      ];
};

/** Events with actor and reason, newest first. */
export const eventsPanel: Panel = ({ events: all }) =>
  all.length === 0
    ? none('no events yet')
    : h(
        'ol',
        { class: 'lines scroll' },
        ...all.map(({ at, who, level, text }) =>
          h('li', { class: level }, small('soft', clockOf(at)), ` ${who === 'bot' ? '' : `${who}: `}`, text),
        ),
      );
