/**
 * Grid: orders on fixed lines, with bids below the market and asks above it. A round trip buys on one line and sells on
 * the next line.
 */
import {
  amountFloor,
  type Instrument,
  type Level,
  type Side,
  type Step,
  type Strategy,
  type View,
} from '../../src/core/index.ts';
import { defineStrategy } from '../defineStrategy.ts';
import { fourDigits, halfSpreadBps, LEVELS_A_SIDE, orderAmount } from '../fromMarket.ts';
import { levelTuning, toleranceOf } from '../parameters.ts';
import {
  ADVERSE,
  adverseSteps,
  awayOf,
  fairPrice,
  fairSteps,
  inventoryRoom,
  LEVEL_STEPS,
  quoteLevelsOf,
  silent,
  unknownIn,
} from '../quoteLevels.ts';
import { linear, log } from '../tuning.ts';
import { gridEdgeProblem, gridLimitProblems, gridParameters, type GridParameters } from './parameters.ts';

export const grid = defineStrategy({
  name: 'grid',
  summary: 'Orders at fixed prices below and above the market.',
  needs: 'a spacing',
  parameters: gridParameters,
  steps: { ...LEVEL_STEPS, 'to the line': 'Distance from the fair value to the grid line.' },
  tuning: { ...levelTuning, spacingBps: log(1, 300), minEdgeBps: linear(0, 30) },
  fromMarket: (terms, feeBps) => ({
    amount: orderAmount(terms),
    levels: LEVELS_A_SIDE,
    spacingBps: fourDigits(2 * halfSpreadBps(terms, feeBps)),
    refreshToleranceBps: fourDigits(0.2 * halfSpreadBps(terms, feeBps)),
  }),
  make: onLines,
  edgeProblem: gridEdgeProblem,
  limitProblems: gridLimitProblems,
  tolerance: toleranceOf,
});

/** Builds the strategy, which quotes on the lines anchor (1 + spacing)^n for integer n. The strategy has no state. */
function onLines(p: GridParameters, instrument: Instrument): Strategy {
  const lots = amountFloor(instrument, p.amount);
  const step = Math.log1p(p.spacingBps / 10_000);
  const ticksOf = (text: string): number => Number(text) / Number(instrument.tick);
  const logAnchor = Math.log(ticksOf(p.anchorPrice));
  const low = p.lowPrice === undefined ? 0 : ticksOf(p.lowPrice);
  const high = p.highPrice === undefined ? Infinity : ticksOf(p.highPrice);

  return {
    quote(view) {
      const unknown = unknownIn(view);
      if (unknown !== null) return silent(unknown);
      if (gridEdgeProblem(p, view.makerRate) !== null) return silent('the spacing does not earn its fees');
      const [bids, asks] = [levelsOf('buy', view), levelsOf('sell', view)];
      return {
        bids: bids ?? [],
        asks: asks ?? [],
        ...(bids !== null && bids.length > 0 ? {} : { noBid: why(bids) }),
        ...(asks !== null && asks.length > 0 ? {} : { noAsk: why(asks) }),
      };
    },
  };

  /** Returns the levels of a side; `null` if every line is outside the range. */
  function levelsOf(side: Side, view: View): Level[] | null {
    const away = awayOf(side);
    // Skips lines nearer than half a spacing, so that a line is not quoted again immediately after its fill.
    const fair = fairPrice(view);
    const place = (Math.log(fair) - logAnchor) / step;
    const near = lineFrom(side, place, 0.5);
    // Lines are fixed, so markouts widen a side by starting it at a line further away.
    const [adverse] = adverseSteps(side, view, fair);
    const first = adverse ? lineFrom(side, place, 0.5 + Math.abs(adverse.ticks) / fair / step) : near;
    const prices: Step[][] = [];
    for (let i = 0; i < p.levels; i++) {
      const [line, nearer] = [lineAt(first + away * i), lineAt(near + away * i)];
      if (!(line >= low && line <= high)) continue;
      prices.push([
        ...fairSteps(view),
        { name: 'to the line', ticks: nearer - fair },
        ...(line === nearer ? [] : [{ name: ADVERSE, ticks: line - nearer }]),
      ]);
    }
    return prices.length === 0 ? null : quoteLevelsOf(side, prices, lots, inventoryRoom(side, view, view.positionMax));
  }

  function lineAt(n: number): number {
    return Math.exp(logAnchor + n * step);
  }
}

/** Returns the index of the first line that is at least `away` spacings from `place`. */
const lineFrom = (side: Side, place: number, away: number): number =>
  side === 'buy' ? Math.floor(place - away) : Math.ceil(place + away);

const why = (levels: readonly Level[] | null): string =>
  levels === null ? 'every line is below lowPrice or above highPrice' : 'inventory is at its limit';
