/** Tiles of the page's first screen: five numbers of the main run, each with explanatory lines. */
import { counted } from '../../src/core/index.ts';
import {
  durationText,
  gainText,
  minuteText,
  numberText,
  percent,
  sumText,
  html,
  type Html,
} from '../../src/pages/index.ts';
import { neededBefore } from '../../strategies/index.ts';
import { STRETCHES_MIN, type Interval } from './interval.ts';
import type { BacktestReport, ReplayReport } from './report.ts';
import { isCrossed } from './summary.ts';

/** Tile with a name, a number, and lines below the number. */
export type Tile = { readonly name: string; readonly value: string; readonly notes: readonly string[] };

type TileReport = Pick<BacktestReport, 'minor' | 'warmUpFrom'>;

/**
 * Returns the tiles as plain text, also for the terminal: net with its interval, net after 60 s, drawdown, uptime,
 * fills per day.
 */
export function tilesTextOf(report: TileReport, main: ReplayReport): readonly Tile[] {
  const { minor } = report;
  const { pnl, netInterval, net60s, drawdown, fills, capital, hedges } = main;
  const range = ({ low, high }: Interval): string => `95%: ${gainText(low, minor)} to ${gainText(high, minor)}`;
  const short = `no interval: the run is shorter than ${STRETCHES_MIN} min`;
  if (isCrossed(main)) {
    const notes = ['the recorded book was crossed for too long'];
    return [{ name: 'net', value: 'not scored', notes }, ...tilesOfTrading(report, main)];
  }
  return [
    {
      name: 'net',
      value: `${gainText(pnl.total, minor)} ${minor}`,
      notes: [
        fills === 0 ? 'nothing was traded' : netInterval === null ? short : range(netInterval),
        returnText(capital.returnPct),
      ].filter(Boolean),
    },
    {
      name: 'net with each fill valued at the mid price 60 s later',
      value: net60s === null ? '–' : `${gainText(net60s.total, minor)} ${minor}`,
      notes: [
        net60s === null
          ? 'no fill has a recorded mid price 60 s later'
          : net60s.interval === null
            ? 'too few fills for a 95% interval'
            : range(net60s.interval),
        net60s !== null && (hedges?.completed ?? 0) > (hedges?.elsewhere?.hedges ?? 0)
          ? "without hedges on the bot's own exchange"
          : '',
      ].filter(Boolean),
    },
    {
      name: 'drawdown',
      value: `${sumText(drawdown.most, minor)} ${minor}`,
      notes: [
        capital.value === null || !(capital.value > 0)
          ? ''
          : `${percentOf(Number(drawdown.most) / capital.value)} of capital`,
        drawdown.at === null ? '' : `deepest at ${minuteText(drawdown.at)}`,
      ].filter(Boolean),
    },
    ...tilesOfTrading(report, main),
  ];
}

function tilesOfTrading(
  { minor, warmUpFrom }: TileReport,
  { uptime, fills, fillsPerDay, seconds, volume, pace, missing }: ReplayReport,
): readonly Tile[] {
  return [
    {
      name: 'uptime, both sides',
      value: percent(uptime.both),
      notes: [
        `bid ${percent(uptime.bid)}, ask ${percent(uptime.ask)}`,
        ...waitsText(missing, warmUpFrom !== undefined),
      ],
    },
    {
      name: 'fills per day',
      value: fillsPerDay === null ? '–' : numberText(Number(fillsPerDay.toPrecision(3))),
      notes: [
        `${counted(numberText(fills), 'fill')} in ${durationText(seconds)}`,
        `traded ${sumText(volume.minor, minor)} ${minor}; at this volume scaled to 30 days, the maker fee is ${numberText(pace.makerBps)} bps`,
      ],
    },
  ];
}

/** Describes the time in which a strategy file had too little data to quote; empty without such a time. */
const waitsText = (missing: ReplayReport['missing'], hasEarlierRows: boolean): readonly string[] =>
  missing
    .filter(({ reason }) => neededBefore(reason) === reason)
    .map(({ reason, bidSeconds, askSeconds }) => {
      const hint = hasEarlierRows || !reason.includes('trades') ? '' : '; --since starts later, with earlier trades';
      return `${reason}: no quotes for ${durationText(Math.max(bidSeconds, askSeconds))}${hint}`;
    });

/** Returns the tiles as HTML. */
export const tilesOf = (report: BacktestReport, main: ReplayReport): Html =>
  html`<div class="tiles">
    ${tilesTextOf(report, main).map(
      ({ name, value, notes }) =>
        html`<div class="tile">
          <span class="soft">${name}</span>
          <b>${value}</b>
          ${notes.map(note => html`<span class="soft">${note}</span>`)}
        </div>`,
    )}
  </div>`;

const returnText = (pct: number | null): string =>
  pct === null ? '' : `${pct > 0 ? '+' : ''}${percentOf(pct / 100)} on capital`;
/** Formats a share as a percentage with three significant digits, because it may be tiny. */
const percentOf = (share: number): string =>
  `${Number((share * 100).toPrecision(3))
    .toLocaleString('en-US', { maximumFractionDigits: 6 })
    .replace('-', '−')}%`;
