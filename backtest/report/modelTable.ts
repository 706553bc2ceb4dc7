/** Table of the fill models: all totals of a run, with a column per fill model. */
import { RATIO_DAYS } from '../collect/returns.ts';
import {
  gainText,
  numberOr,
  numberText,
  percent,
  secondsOr,
  sumText,
  html,
  table,
  tableRow,
  type Html,
} from '../../src/pages/index.ts';
import type { Interval } from './interval.ts';
import type { ShownModel } from './mainModel.ts';
import { colourOf } from './plots.ts';
import type { BacktestReport, LevelReport, ReplayReport } from './report.ts';

type Row = { readonly name: string; readonly of: (model: ReplayReport) => string | Html };

/** Returns the table of the fill models; `models` has one entry for each distinct result. */
export function modelTable(report: BacktestReport, models: readonly ShownModel[]): Html {
  const head = models.map(({ label }, i) => html`<th><i style="background:var(--${colourOf(i)})"></i>${label}</th>`);
  return table(
    html`<tr>
      <th></th>
      ${head}
    </tr>`,
    [...moneyRows(report), ...tradeRows(report), ...QUOTE_ROWS].map(({ name, of }) => tableRow(name, models.map(of))),
  );
}

function moneyRows({ major, minor }: BacktestReport): readonly Row[] {
  const gain = (sum: string | number): string => gainText(sum, minor);
  const range = (of: Interval | null): string => (of === null ? '–' : `${gain(of.low)} to ${gain(of.high)}`);
  const tooShort = ({ seconds }: ReplayReport): string =>
    seconds < RATIO_DAYS * 86_400 ? `– (needs ${RATIO_DAYS} days)` : '–';
  return [
    { name: `net, ${minor}`, of: ({ pnl }) => html`<b>${gain(pnl.total)}</b>` },
    { name: 'expected net of another run of this length, 95% interval', of: ({ netInterval }) => range(netInterval) },
    { name: '= spread captured', of: ({ pnl }) => gain(pnl.spread) },
    { name: '+ change in value of the inventory', of: ({ pnl }) => gain(pnl.inventory) },
    { name: '+ fees', of: ({ pnl }) => gain(pnl.fees) },
    { name: '+ hedging', of: ({ pnl }) => gain(pnl.hedging) },
    {
      name: `net with each fill valued at the mid price 60 s later, ${minor}`,
      of: ({ net60s }) => (net60s === null ? '–' : gain(net60s.total)),
    },
    {
      name: 'net with each fill valued at the mid price 60 s later, 95% interval',
      of: ({ net60s }) => range(net60s?.interval ?? null),
    },
    { name: 'net, bps of traded value', of: ({ profitBps }) => numberOr(profitBps) },
    { name: 'fees, bps of traded value', of: ({ feesBps }) => numberOr(feesBps) },
    {
      name: `capital at the start, ${minor}`,
      of: ({ capital: { value } }) => (value === null ? '–' : sumText(value, minor)),
    },
    {
      name: 'return on the capital at the start, %',
      of: ({ capital: { returnPct } }) => (returnPct === null ? '–' : numberText(Number(returnPct.toPrecision(4)))),
    },
    {
      name: 'gain from buying and holding the largest position of the bot',
      of: ({ hold }) => (hold.total === null ? '–' : `${gain(hold.total)} (${sumText(hold.amount, major)} ${major})`),
    },
    { name: 'maximum drawdown', of: ({ drawdown }) => sumText(drawdown.most, minor) },
    {
      name: 'Sharpe / Sortino ratio, annualized from returns per minute',
      of: model =>
        model.sharpe === null && model.sortino === null
          ? tooShort(model)
          : `${numberOr(model.sharpe, 1)} / ${numberOr(model.sortino, 1)}`,
    },
  ];
}

const tradeRows = ({ major, minor }: BacktestReport): readonly Row[] => [
  { name: 'fills', of: ({ fills }) => numberText(fills) },
  { name: `traded, ${major}`, of: ({ volume }) => sumText(volume.major, major) },
  { name: `traded, ${minor}`, of: ({ volume }) => sumText(volume.minor, minor) },
  {
    name: `traded volume scaled to 30 days, ${minor}; maker fee at that volume, bps`,
    of: ({ pace }) => `${numberText(pace.volume30d)}; ${numberOr(pace.makerBps)}`,
  },
  { name: 'orders placed', of: ({ orders }) => numberText(orders.placed) },
  { name: 'order-to-trade ratio', of: ({ orderToTrade }) => numberOr(orderToTrade, 1) },
  { name: 'orders with a fill', of: ({ levels }) => share(levelSum(levels, 'touched'), levelSum(levels, 'orders')) },
  {
    name: 'time in the queue before the first fill, median / 90th percentile',
    of: ({ waits }) => `${secondsOr(waits.medianSeconds)} / ${secondsOr(waits.p90Seconds)}`,
  },
  { name: 'markout after 1 s, bps', of: model => markoutAt(model, 1) },
  { name: 'markout after 1 min, bps', of: model => markoutAt(model, 60) },
  { name: `inventory at the end, ${major}`, of: ({ inventory }) => sumText(inventory, major) },
  { name: `mean absolute inventory, ${major}`, of: ({ position }) => numberText(position.meanSize) },
  { name: `largest absolute inventory, ${major}`, of: ({ position }) => numberText(position.mostSize) },
];

const QUOTE_ROWS: readonly Row[] = [
  {
    name: 'share of time with a bid / an ask / both',
    of: ({ uptime }) => `${percent(uptime.bid)} / ${percent(uptime.ask)} / ${percent(uptime.both)}`,
  },
  {
    name: 'mean spread of the bot / of the market, bps',
    of: ({ spreadBps }) => `${numberOr(spreadBps.ours)} / ${numberOr(spreadBps.market)}`,
  },
  {
    name: 'maximum requests in a minute / limit',
    of: ({ requests }) => `${numberText(requests.mostPerMinute)} / ${numberText(requests.allowedPerMinute)}`,
  },
  {
    name: 'requests over the limit / rejected in a lockout',
    of: ({ requests }) => `${numberText(requests.overBudget)} / ${numberText(requests.lockedOut)}`,
  },
  {
    name: 'rejected post-only orders that would have traded on arrival',
    of: ({ refusedPostOnly }) => numberText(refusedPostOnly),
  },
  { name: 'halted', of: ({ haltedBecause }) => haltedBecause ?? 'no' },
];

const levelSum = (levels: readonly LevelReport[], key: 'touched' | 'orders'): number =>
  levels.reduce((total, level) => total + level[key], 0);
const share = (part: number, all: number): string => (all > 0 ? percent(part / all) : '–');

function markoutAt({ markouts }: ReplayReport, after: number): string {
  const all = markouts.find(({ side }) => side === null);
  const i = all?.seconds.indexOf(after) ?? -1;
  const [mean, error] = [all?.bps[i] ?? null, all?.errorBps[i] ?? null];
  return mean === null ? '–' : `${numberOr(mean)}${error === null ? '' : ` ± ${numberOr(error)}`}`;
}
