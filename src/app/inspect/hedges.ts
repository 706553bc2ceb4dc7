/**
 * `puntas hedges`: lists the hedges in the recordings of a state directory, with the cost of every route at the
 * decision, and the outcome.
 */
import { existsSync } from 'node:fs';
import { recordedConfig } from '../../config.ts';
import { pairOf, type HedgeLine, type HedgeRow } from '../../core/index.ts';
import { lineOf } from '../../live/recording/recording.ts';
import { readRecording, recordingsIn } from '../../live/recording/recordings.ts';
import { UsageError } from '../../wiring/usageError.ts';

/** Hedge, with its states and the last run that changed it. */
export type ListedHedge = HedgeRow & {
  readonly book: string;
  readonly run: number;
  readonly states: readonly { readonly at: number; readonly state: HedgeRow['state']; readonly why: string | null }[];
};

/**
 * Returns the hedges, oldest first. Also works with a running bot: each recording is read up to its last complete
 * piece. Hedges of old runs are known while their recordings exist.
 */
export function hedgesIn(dir: string): readonly ListedHedge[] {
  const found = new Map<string, ListedHedge>();
  for (const { run } of existsSync(dir) ? recordingsIn(dir) : []) {
    try {
      const recording = readRecording(dir, run);
      if (recording === null) continue;
      const { book } = recordedConfig(recording.of.setup);
      for (const text of recording.lines) {
        // Only lines of hedges are parsed: a recording can have millions of other lines.
        if (!text.startsWith(BEGINS)) continue;
        const line = lineOf(text);
        if (line.kind !== 'input' || line.event.kind !== 'hedge') continue;
        const { at, row } = line.event;
        const before = found.get(row.id)?.states ?? [];
        const isNew = before.at(-1)?.state !== row.state || before.at(-1)?.why !== row.why;
        const states = isNew ? [...before, { at, state: row.state, why: row.why }] : before;
        found.set(row.id, { ...row, book, run, states });
      }
    } catch (error) {
      // The part before the damage of a recording is used; `puntas replay` reports the damage.
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return [...found.values()];
}

const BEGINS = 'i{"event":{"kind":"hedge"';

/**
 * Returns the hedges as lines to print.
 * @throws UsageError if there is no recording.
 */
export function hedges(dir: string, json: boolean): readonly string[] {
  if (!existsSync(dir) || recordingsIn(dir).length === 0)
    throw new UsageError(
      `${dir}: no recording of a run in this directory; expected the state directory of a bot (state.dir)`,
    );
  const told = hedgesIn(dir);
  if (json) return [JSON.stringify({ hedges: told })];
  return told.length === 0 ? ['no hedges yet'] : told.flatMap(linesOf);
}

/** Returns one hedge as text: the decision, its alternatives, and its outcome. */
export function linesOf({ book, route, ...row }: ListedHedge): readonly string[] {
  const [major, minor] = pairOf(book);
  const what = row.amount.startsWith('-')
    ? `${row.amount.slice(1)} ${major} to acquire`
    : `${row.amount} ${major} to hedge`;
  const standing = [
    ...(row.inventory === undefined ? [] : [`inventory ${row.inventory}`]),
    ...(row.middle === undefined ? [] : [`mid price ${row.middle}`]),
    ...(row.costMax === undefined ? [] : [`maximum cost ${sixDigits(row.costMax)} ${minor}`]),
    ...(row.dayCost === undefined
      ? []
      : [`earlier hedges of the UTC day cost at most ${sixDigits(row.dayCost)} ${minor}`]),
    ...(row.flatten === undefined ? [] : [`earlier hedges of this flatten cost ${row.flatten.cost} ${minor}`]),
  ];
  const { offer } = row;
  return [
    `${row.id}  ${new Date(row.at).toISOString()}  ${row.state}${row.why === null ? '' : ` (${row.why})`}: ${what}`,
    ...(standing.length > 0 ? [`  ${standing.join(', ')}`] : []),
    ...row.weighed.map(line => `  ${wayText(line, minor)}`),
    ...(offer === null
      ? []
      : [
          `  ${offer.give.amount} ${offer.give.currency} for ${offer.get.amount} ${offer.get.currency} by ${offer.way}, ${offer.id}`,
        ]),
    ...(route
      ? [
          `  route over ${route.via}, leg ${route.leg} of 2; the bot holds ${route.holds} ${route.via} from this route, valued at ${route.worth} ${minor}`,
        ]
      : []),
    `  ${row.states.map(({ at, state }) => `${state} ${new Date(at).toISOString().slice(11, 23)}`).join(', ')}`,
  ];
}

/** Formats an exact sum with at most six significant digits; `--json` has all digits. */
const sixDigits = (sum: string): string => String(Number(Number(sum).toPrecision(6)));

function wayText({ way, cost, bps, not }: HedgeLine, minor: string): string {
  const price = cost === null || bps === null ? '' : `${bps.toFixed(1).padStart(8)} bps  ${sixDigits(cost)} ${minor}  `;
  return `${way.padEnd(14)}${price}${not ?? 'taken'}`;
}
