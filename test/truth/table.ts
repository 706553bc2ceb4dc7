/** Fills of recorded orders by the fill models on snapshots of drawn depths and rates, against the fate of these orders. */
import { fillModel, type MarketRows } from '../../backtest/index.ts';
import { randomOf } from '../../src/core/index.ts';
import {
  candidatesOf,
  scoreOf,
  tellKinds,
  type Candidate,
  type PictureKind,
  type Told,
} from '../scripts/truthTable.ts';
import type { OwnReading } from './logs.ts';

export const TRUTH_MODELS = ['pessimistic', 'expected'] as const;
type TruthModel = (typeof TRUTH_MODELS)[number];

export type TruthScore = {
  readonly orders: number;
  readonly filled: number;
  readonly told: number;
  readonly volume: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly volumeButOne: number;
  readonly share: number;
};

/** Lots said and true of a part of the orders. */
export type TruthPart = {
  readonly part: string;
  readonly orders: number;
  readonly real: number;
  readonly said: number;
};

export type TruthCell = PictureKind & {
  readonly drawn: boolean;
  readonly scores: Readonly<Record<TruthModel, TruthScore>>;
  readonly parts: readonly TruthPart[];
};

type Wanted = PictureKind & { readonly drawn: boolean };

const FIXED: readonly Wanted[] = [50, 3, 1].flatMap(depth =>
  [100, 1_000, 5_000].map(everyMs => ({ depth, everyMs, drawn: false })),
);
const DRAWS = 9;

/** Snapshots of the table: fixed ones, and others of a depth from 1 to 20 levels and 0.2 to 10 s apart, evenly on a log scale. */
export function wantedSnapshots(): readonly Wanted[] {
  const random = randomOf(32);
  const between = (low: number, high: number): number => Math.round(low * (high / low) ** random.next());
  const drawn = Array.from({ length: DRAWS }, () => ({
    depth: between(1, 20),
    everyMs: between(200, 10_000),
    drawn: true,
  }));
  return [...FIXED, ...drawn];
}

/** Orders that an execution reached, without those of the first snapshot: their places in the queue are not recorded. */
export function truthCandidates({ rows, orders }: OwnReading): readonly Candidate[] {
  const begin = rows.at[0]!;
  return candidatesOf(rows, orders).filter(({ order }) => order.steps[0]!.at > begin);
}

/** Measures several kinds of snapshots together: the log is then read once for all of them. */
export function truthCells(
  rows: MarketRows,
  candidates: readonly Candidate[],
  wanted: readonly Wanted[],
  onShare?: (share: number) => void,
): readonly TruthCell[] {
  const models = TRUTH_MODELS.map(name => (view: MarketRows) => fillModel(name, view));
  const told = tellKinds(rows, candidates, wanted, models, onShare);
  return wanted.map((kind, k) => {
    const [pessimistic, expected] = told[k]!.map(one => truthScore(candidates, one));
    return {
      ...kind,
      scores: { pessimistic: pessimistic!, expected: expected! },
      parts: partsOf(candidates, told[k]![1]!, rows.at[0]!, kind.everyMs),
    };
  });
}

function truthScore(candidates: readonly Candidate[], told: readonly Told[]): TruthScore {
  const { orders, filled, told: said, volume, volumeInterval, volumeButOne, share } = scoreOf(candidates, told);
  return {
    ...{ orders, filled, told: said, volume, volumeButOne, share },
    ...{ low: volumeInterval?.low ?? null, high: volumeInterval?.high ?? null },
  };
}

/** Parts by whether a snapshot was taken while the order rested, and whether it came behind others at its price. */
function partsOf(
  candidates: readonly Candidate[],
  told: readonly Told[],
  begin: number,
  everyMs: number,
): readonly TruthPart[] {
  const parts = new Map<string, { orders: number; real: number; said: number }>(
    ['seen, alone', 'seen, behind others', 'between snapshots, alone', 'between snapshots, behind others'].map(part => [
      part,
      { orders: 0, real: 0, said: 0 },
    ]),
  );
  candidates.forEach(({ order, behind }, n) => {
    const came = order.steps[0]!.at;
    const last = order.steps.at(-1)!;
    const next = begin + (Math.floor((came - begin) / everyMs) + 1) * everyMs;
    const isSeen = last.left > 0 || next < last.at;
    const part = parts.get(`${isSeen ? 'seen' : 'between snapshots'}, ${behind ? 'behind others' : 'alone'}`)!;
    part.orders++;
    part.real += order.filled;
    part.said += told[n]!.lots;
  });
  return [...parts].map(([part, sums]) => ({ part, ...sums }));
}
