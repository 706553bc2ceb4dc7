/**
 * Comparison of criteria with evidence. Each finding has the expected value, the found value, and a result: passed,
 * failed or not known yet.
 */
import { counted } from '../../../src/core/index.ts';
import type { TunedEvidence } from '../../../src/app/promote/tunedEvidence.ts';
import { haveCommonHours } from '../tune/registry.ts';
import type {
  Criteria,
  ReplayedRun,
  ReplayEvidence,
  RunEvidence,
  RunningCriteria,
} from '../../../src/app/promote/evidence.ts';
import type { Check, CriterionFinding, CriterionResult } from '../../../src/app/promote/records.ts';
import type { TradedStage } from './runEvidence.ts';

/**
 * Returns the overall result: `failed` if any finding failed; `not yet` if any finding is not known yet, or if there
 * are no findings; otherwise `passed`.
 */
export const resultOf = (findings: readonly CriterionFinding[]): CriterionResult =>
  findings.some(({ result }) => result === 'failed')
    ? 'failed'
    : findings.length === 0 || findings.some(({ result }) => result === 'not yet')
      ? 'not yet'
      : 'passed';

const finding = (
  criterion: string,
  expected: string,
  found: string,
  result: CriterionResult | boolean,
): CriterionFinding => ({
  ...{ criterion, expected, found },
  result: result === true ? 'passed' : result === false ? 'failed' : result,
});

/**
 * Returns the findings of the replay. Adds the findings of the tuning if the criteria require a tuning or there is no
 * replay.
 */
export function replayFindings(
  criteria: Criteria['replay'],
  tuned: TunedEvidence | null,
  replay: ReplayEvidence | null,
): readonly CriterionFinding[] {
  const asksTuning = criteria.tuned ?? replay === null;
  return [...(asksTuning ? tuningFindings(tuned) : []), ...(replay === null ? [] : replayed(criteria, tuned, replay))];
}

function tuningFindings(tuned: TunedEvidence | null): readonly CriterionFinding[] {
  const better = 'better than not trading (docs/tuning.md)';
  if (tuned === null) return [finding('tuning', better, 'the candidate has no evidence from puntas tune', false)];
  const { holdout, deflated, pbo, study, trial } = tuned;
  const held = `95% interval of the net entirely above zero, in hours that no trial has used ${VALUED}`;
  const about = `study ${study.slice(0, 8)}, trial ${trial}; deflated Sharpe ratio ${deflated.toFixed(3)}, probability of overfitting ${pbo === null ? 'unknown' : pbo.toFixed(3)}`;
  return [
    finding('tuning', better, `${tuned.better ? 'better' : 'not better'}: ${about}`, tuned.better),
    holdout === null
      ? finding('holdout', held, 'the holdout was not opened; run puntas tune --open-holdout', 'not yet')
      : holdout.interval === null
        ? finding(
            'holdout',
            held,
            `net of ${digits(holdout.net60s)} in quote currency; the holdout is too short for a 95% interval`,
            false,
          )
        : finding(
            'holdout',
            held,
            `${digits(holdout.net60s)} (${spanText(holdout.interval)}) in quote currency`,
            holdout.interval.low > 0,
          ),
  ];
}

function replayed(
  criteria: Criteria['replay'],
  tuned: TunedEvidence | null,
  replay: ReplayEvidence,
): readonly CriterionFinding[] {
  const { measures, minor, tapes } = replay;
  const tunedOn = (tuned?.tapes ?? []).flatMap(({ market, digest, tuned: span }) =>
    span === null ? [] : [{ market, digest, from: Date.parse(span[0]), to: Date.parse(span[1]) }],
  );
  const seen = tapes.filter(tape => haveCommonHours([tape], tunedOn)).map(({ name }) => name);
  const { net60sLeast, fillsLeast, uptimeLeast, haltsMost, drawdownMost } = criteria;
  const { fills, uptime, drawdown, halts } = measures;
  const isNew = seen.length === 0;
  return [
    ...(tunedOn.length === 0
      ? []
      : [
          finding(
            'hours',
            'no recording with hours that were used for tuning',
            isNew ? 'none' : seen.join(', '),
            isNew,
          ),
        ]),
    ...(net60sLeast === null ? [] : [replayedNet(net60sLeast, replay)]),
    finding('fills', `at least ${fillsLeast}`, digits(fills), fills >= fillsLeast),
    finding(
      'uptime',
      `a bid and an ask for at least ${partPercent(uptimeLeast)} of the time`,
      partPercent(uptime),
      uptime >= uptimeLeast,
    ),
    ...(drawdownMost === undefined
      ? []
      : [
          finding(
            'drawdown',
            `at most ${digits(drawdownMost)} ${minor}`,
            `${digits(drawdown)} ${minor}`,
            drawdown <= drawdownMost,
          ),
        ]),
    finding('halts', `at most ${haltsMost}`, String(halts), halts <= haltsMost),
  ];
}

function replayedNet(least: number, { measures, interval, minor }: ReplayEvidence): CriterionFinding {
  const expected = `95% interval of the net entirely above ${digits(least)} ${minor} ${VALUED}`;
  const found = `${digits(measures.net60s)} ${minor}`;
  return interval === null
    ? finding(
        'net60s',
        expected,
        `${found}; a 95% interval needs at least 20 time blocks with different results`,
        false,
      )
    : finding('net60s', expected, `${found} (${spanText(interval)} ${minor})`, interval.low > least);
}

/**
 * Prediction from an earlier stage: interval of the net profit, in bps of the traded volume, with each fill valued 60 s
 * after it.
 */
export type PredictedNet = { readonly stage: string; readonly low: number; readonly high: number };

/**
 * Returns the interval of the net profit that a check found, in bps of the traded volume; `null` if the check has no
 * interval.
 */
export function predictedNetOf({ stage, replay, run }: Check & { readonly stage: string }): PredictedNet | null {
  if (run?.interval) return { stage, ...run.interval };
  if (!replay?.interval || !(replay.measures.volume > 0)) return null;
  const bps = (net: number): number => (10_000 * net) / replay.measures.volume;
  return { stage, low: bps(replay.interval.low), high: bps(replay.interval.high) };
}

/** Returns the findings of the stages `paper` and `smallest`. */
export function tradedFindings(
  criteria: RunningCriteria,
  traded: TradedStage,
  before: PredictedNet | null,
): readonly CriterionFinding[] {
  const { evidence } = traded;
  const { hoursLeast, fillsLeast, uptimeLeast, haltsMost } = criteria;
  const { runs, hours, fills, uptime, halts } = evidence;
  const begun = runs.length > 0;
  return [
    runsFinding(evidence),
    finding('hours', `at least ${digits(hoursLeast)}`, digits(hours), hours >= hoursLeast || 'not yet'),
    finding('fills', `at least ${fillsLeast}`, String(fills), fills >= fillsLeast || 'not yet'),
    finding(
      'uptime',
      `a bid and an ask for at least ${partPercent(uptimeLeast)} of the time`,
      begun ? partPercent(uptime) : 'nothing ran',
      (begun && uptime >= uptimeLeast) || (begun && hours >= hoursLeast ? false : 'not yet'),
    ),
    ...(criteria.net60sBpsLeast === null ? [] : profitFindings(criteria.net60sBpsLeast, traded, before)),
    finding('halts', `at most ${haltsMost}`, haltsText(halts), halts.length <= haltsMost),
  ];
}

/**
 * Returns the finding about runs, which fails if the replay of a run differs from the run. Runs of other configurations
 * are ignored.
 */
function runsFinding({ runs, others }: RunEvidence): CriterionFinding {
  const expected = 'runs of this configuration whose replays produce the recorded commands';
  const different = runs.find(({ difference }) => difference !== null);
  if (different !== undefined) return finding('runs', expected, differenceText(different), false);
  const beside =
    others === 0
      ? ''
      : `; ${counted(others, 'run of another configuration is', 'runs of other configurations are')} ignored`;
  return finding('runs', expected, `${runs.length}${beside}`, runs.length > 0 || 'not yet');
}

const differenceText = ({ run, difference }: ReplayedRun): string =>
  `run ${run} differs: ${(difference ?? '').slice(0, 120)}`;

function profitFindings(least: number, traded: TradedStage, before: PredictedNet | null): readonly CriterionFinding[] {
  const { interval } = traded.evidence;
  const own = profitFinding(least, traded);
  if (before === null) return [own];
  const expected = `95% interval of the net overlaps or exceeds the interval of stage ${before.stage}, ${spanText(before)} bps of the volume ${VALUED}`;
  return [
    own,
    interval === null
      ? finding(`as ${before.stage}`, expected, 'not known yet', 'not yet')
      : finding(`as ${before.stage}`, expected, `${spanText(interval)} bps`, interval.high >= before.low),
  ];
}

/**
 * Returns the finding about profit. If the interval contains the required value, the result is `not yet`, because more
 * fills are needed. The interval remains valid, however often the stage is checked.
 */
function profitFinding(least: number, { ratio, evidence }: TradedStage): CriterionFinding {
  const expected = `95% interval of the net entirely at or above ${digits(least)} bps of the volume ${VALUED}`;
  const { net60sBps, interval, fills, judged, hours } = evidence;
  // Fills in the last 60 s of a run have no markout, because the recording ends less than 60 s after them.
  const left =
    fills > judged
      ? `; ${counted(fills - judged, 'fill in the last 60 s of a run is', 'fills in the last 60 s of a run are')} excluded`
      : '';
  if (net60sBps === null)
    return finding('net60s', expected, `no fill with a known mid price 60 s later${left}`, 'not yet');
  if (interval === null)
    return finding(
      'net60s',
      expected,
      `${digits(net60sBps)} bps of the volume of ${counted(judged, 'fill')}; a 95% interval needs fills in 20 two-minute blocks, found ${ratio.blocks}${left}`,
      'not yet',
    );
  const found = `${digits(net60sBps)} bps of the volume (${spanText(interval)} bps)${left}`;
  if (interval.low >= least) return finding('net60s', expected, found, true);
  if (interval.high < least) return finding('net60s', expected, found, false);
  const missing = ratio.blocksMissing(least / 10_000);
  const more =
    missing === null
      ? 'undecided; the estimated net is below the required value'
      : `undecided; needs about ${counted(Math.ceil((missing * judged) / ratio.blocks), 'more fill')} if their mean net stays the same (about ${digits((missing * hours) / ratio.blocks)} h of trading)`;
  return finding('net60s', expected, `${found}; ${more}`, 'not yet');
}

/** Returns the finding about the fill model of paper trading. Only the models in the criteria count as evidence. */
export const modelFinding = (
  { models }: Criteria['paper'],
  { model, isPaper }: RunEvidence,
): readonly CriterionFinding[] =>
  !isPaper || model === null
    ? []
    : [finding('fill model', models.join(' or '), model, (models as readonly string[]).includes(model))];

/** Returns the finding about the ledger of real orders, whose balances must equal the exchange's to the last digit. */
export function ledgerFinding({ ledger }: RunEvidence): CriterionFinding {
  const expected = 'no difference between the ledger and the exchange';
  if (ledger === null)
    return finding('ledger', expected, 'no comparison with the exchange since the stage started', 'not yet');
  const wrong = Object.entries(ledger.differences).filter(([, sum]) => !/^-?0(?:\.0+)?$/.test(sum));
  return wrong.length === 0
    ? finding('ledger', expected, `none at ${new Date(ledger.at).toISOString()}`, true)
    : finding('ledger', expected, wrong.map(([name, sum]) => `${sum} ${name}`).join(', '), false);
}

const haltsText = (halts: RunEvidence['halts']): string =>
  halts.length === 0 ? '0' : `${halts.length}, the last: ${halts.at(-1)!.reason}`;
const spanText = ({ low, high }: { readonly low: number; readonly high: number }): string =>
  `${digits(low)} to ${digits(high)}`;
/** Note about the valuation of fills in the net profit of the criteria. */
const VALUED = '(each fill valued at the mid price 60 s later)';
const partPercent = (part: number): string => `${(100 * part).toFixed(1)}%`;

/** Rounds to four significant digits. */
function digits(x: number): string {
  const rounded = Number(x.toPrecision(4));
  return Object.is(rounded, -0) ? '0' : String(rounded);
}
