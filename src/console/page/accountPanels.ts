/** Panels of the account: profit by time and by configuration, fills, hedges, the ledger, events. */
import { div, h, none, small, signedSum, tableOf, type Node, type Panel } from './elements.ts';
import { trimmed, clockOf, fixed, withSign, stamp, tone } from './texts.ts';
import type { LongState } from './state.ts';
import type { ConfigResult, LongHistory, ShownHour, ShownProfit } from './view.ts';

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

/**
 * Results of each configuration, which show the effect of each change. `isPast`: whether the page shows a past time;
 * `state`: outcome of the last request for the results.
 */
export function resultsPanel(long: LongHistory | null, state: LongState, minor: string, isPast: boolean): Node {
  if (isPast) return none('results are only in the live view');
  if (long === null) return none(NO_RESULTS[state]);
  return [
    h(
      'p',
      { class: 'soft' },
      `In ${minor}, net of fees. Rates are followed by their 95% interval. The market changes too, so compare several days.`,
    ),
    state === 'failed' ? h('p', { class: 'soft' }, 'The last request failed; these results are older.') : null,
    ...long.missing.map(sentence => h('p', { class: 'soft' }, sentence)),
    h(
      'ul',
      { class: 'lines scroll results' },
      ...[...long.results].reverse().map(result => resultLine(result, long.isOpeningKnown)),
    ),
  ];
}

const NO_RESULTS: Readonly<Record<LongState, string>> = {
  loading: 'loading',
  none: 'no results yet; they need the first entry of the ledger',
  failed: 'the results cannot be read; the page retries',
  known: '',
};

function resultLine(result: ConfigResult, isOpeningKnown: boolean): Node {
  const { change, from, hours, net, stopped, fills, volume, perHour, interval, perVolumeBps } = result;
  const figure = (name: string, ...value: Node[]) => small('figure', small('soft', `${name} `), ...value);
  const range = interval && ` (${withSign(interval.low, 2)} to ${withSign(interval.high, 2)})`;
  return h(
    'li',
    { key: from },
    h(
      'b',
      null,
      `${stamp(from).slice(0, 10)} ${clockOf(from)} `,
      change !== null ? change.text : isOpeningKnown ? 'opening of the ledger' : 'first stored figure',
    ),
    change === null ? null : div('soft', ...sourceOf(change)),
    hours === null || net === null
      ? div('soft', 'no profit was stored with this configuration')
      : div(
          '',
          figure('net', signedSum(net)),
          stopped === null || Number(stopped) === 0 ? null : figure('part while stopped', signedSum(stopped)),
          figure('measured', `${fixed(hours, 1)} h`),
          figure('fills', fills === null ? '–' : String(fills)),
          figure('volume', fixed(volume, 0)),
          figure('per hour', ...perHourText(perHour, hours), small('soft', range)),
          figure(
            'per volume',
            perVolumeBps === null ? '–' : small(tone(perVolumeBps), `${withSign(perVolumeBps, 2)} bps`),
          ),
          change === null ? null : figure('change from before', ...comparisonOf(result)),
        ),
  );
}

/**
 * Returns the profit per hour; instead a reason if less than an hour was measured, in which one fill decides the rate.
 */
const perHourText = (perHour: number | null, hours: number): readonly Node[] =>
  perHour === null || hours < 1 ? ['measured for less than an hour'] : [small(tone(perHour), withSign(perHour, 2))];

const sourceOf = ({ by, reason, digest, run }: NonNullable<ConfigResult['change']>): readonly Node[] => [
  reason === null ? 'reason not stored' : by === null ? reason : `${by}: ${reason}`,
  run === null ? '' : `, run ${run}`,
  digest === null ? '' : `, file ${digest}`,
];

/** Compares the profit per hour with that of the previous configuration. */
function comparisonOf({ difference }: ConfigResult): readonly Node[] {
  if (difference === null) return ['too few hours'];
  const { value, low, high } = difference;
  const range = small('soft', ` per hour (${withSign(low, 2)} to ${withSign(high, 2)})`);
  const word = low > 0 ? 'better' : high < 0 ? 'worse' : 'no clear difference';
  return [small(low > 0 ? 'gain' : high < 0 ? 'loss' : '', `${word}, ${withSign(value, 2)}`), range];
}
