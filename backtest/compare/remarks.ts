/** Sentences about obstacles to a run's trading, which would otherwise be attributed to the strategy. */
import { counted } from '../../src/core/index.ts';
import type { DataFlaw } from '../../src/tape/index.ts';
import { mainModel, type ComparedModel } from './comparison.ts';

/** Minimum share of time with quotes; a run with a smaller share gets a remark. */
const QUOTED_MIN = 0.9;
const FEW_FILLS = 30;
const REASONS_SHOWN = 2;

/**
 * Returns remarks about halts under any model. For the main model, adds remarks about both sides quoted for under 90%
 * of the time, requests over the budget, and fewer than 30 fills. Empty if no model ran. Of the recording's `flaws`,
 * locked and crossed books are mentioned if a crossed book is the main reason for missing quotes.
 */
export function remarksOf(models: readonly ComparedModel[], flaws: readonly DataFlaw[]): readonly string[] {
  const main = mainModel(models);
  if (main === null) return [];
  return [
    ...models.flatMap(({ model, haltedBecause }) =>
      haltedBecause === null ? [] : [`${model} halted: ${haltedBecause}`],
    ),
    ...models.flatMap(({ model, strategyFault }) =>
      strategyFault === undefined ? [] : [`${model} did not quote as it should: ${strategyFault}`],
    ),
    ...unquoted(main, flaws),
    ...outOfBudget(main),
    ...fewFills(main),
  ];
}

function unquoted({ uptime, missing, seconds }: ComparedModel, flaws: readonly DataFlaw[]): string[] {
  if (uptime.both >= QUOTED_MIN) return [];
  const reasons = missing.slice(0, REASONS_SHOWN).map(({ reason, bidSeconds: bid, askSeconds: ask }) => {
    const of = (side: number): string => roughPercent(side / seconds);
    return `${reason} (no bid ${of(bid)}, no ask ${of(ask)} of the time)`;
  });
  const why =
    reasons.length === 0 ? '' : `; main ${reasons.length === 1 ? 'reason' : 'reasons'}: ${reasons.join(', ')}`;
  const crossed = missing[0]?.reason === 'book crossed';
  const found = crossed ? flaws.filter(({ what }) => /^(locked|crossed) books$/.test(what)) : [];
  const data = found.map(({ what, count }) => `; the recording itself has ${count.toLocaleString('en-US')} ${what}`);
  return [`both sides were quoted ${roughPercent(uptime.both)} of the time${why}${data.join('')}`];
}

function outOfBudget({ requests, orders }: ComparedModel): string[] {
  const { overBudget, lockedOut, allowedPerMinute } = requests;
  if (overBudget + lockedOut === 0) return [];
  const all = overBudget + orders.placed;
  const locked =
    lockedOut > 0
      ? `, and the exchange rejected ${counted(lockedOut.toLocaleString('en-US'), 'request')} during a lockout`
      : '';
  return [
    `${counted(overBudget.toLocaleString('en-US'), 'request')} (${roughPercent(overBudget / all)}) exceeded the budget of ${allowedPerMinute} per minute${locked}`,
  ];
}

function fewFills({ fills, spreadBps }: ComparedModel): string[] {
  if (fills >= FEW_FILLS) return [];
  const how = fills === 0 ? 'nothing was filled' : `${counted(fills, 'fill')}, too few for a conclusion`;
  const ours = spreadBps.ours;
  return [ours === null ? how : `${how} (mean spread of the bot: ${ours.toPrecision(3)} bps)`];
}

const roughPercent = (share: number): string => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)}%`;
