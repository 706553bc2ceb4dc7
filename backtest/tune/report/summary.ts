/** Summary of a study in sentences: whether its best trial is better than not trading, and the reasons. */
import { counted } from '../../../src/core/index.ts';
import { gainText, numberText } from '../../../src/pages/index.ts';
import type { Interval } from '../../report/interval.ts';
import type { Evidence, HeldOut, Tuning } from './tuning.ts';
import { PBO_MAX, share } from './tuningVerdict.ts';

/** Returns the summary as paragraphs of plain text; the first is the verdict. */
export function tuningWords(tuning: Tuning): readonly string[] {
  return [...resultWords(tuning), ...(tuning.notSimulated ?? []).map(line => `Not simulated: ${line}.`)];
}

function resultWords(tuning: Tuning): readonly string[] {
  const { verdict, chosen, evidence, holdout, minor, counts, search } = tuning;
  const tried = `${counted(numberText(search.trials), 'trial')} (${counts.done} completed, ${counts.pruned} stopped early, ${counts.refused} could not run)`;
  if (!verdict.better) {
    const why = verdict.words.join('; ');
    return [
      `No trial is better than not trading: ${why}.`,
      ...(evidence === null || chosen === null
        ? [`${tried}; ${counts.feasible} met the constraints.`]
        : [bestOf(chosen, evidence, minor, tried), choice(evidence)]),
      ...holdoutWords(holdout, minor),
    ];
  }
  if (evidence === null || chosen === null) return [];
  return [
    `In the tuning hours${holdout === null ? '' : ' and in the holdout'}, trial ${chosen} is better than not trading${holdout === null ? '; the holdout was not opened' : ''}.`,
    ...[bestOf(chosen, evidence, minor, tried), choice(evidence)],
    ...holdoutWords(holdout, minor),
  ];
}

function bestOf(chosen: number, { net, interval, deflated, blocks }: Evidence, minor: string, tried: string): string {
  return `The best of ${tried} is trial ${chosen}. With each fill valued at the mid price 60 s later, its net profit over ${counted(blocks, 'time block')} is ${gainText(net, minor)} ${minor}${around(interval, minor)} under the worst fill model. The deflated Sharpe ratio is ${share(deflated.probability)}, with ${counted(numberText(deflated.trials), 'configuration')} tried so far on the tuning hours.`;
}

function choice({ pbo, paths, walkForward, stability }: Evidence): string {
  const won = paths.filter(net => net > 0).length;
  const path =
    paths.length === 0
      ? ''
      : ` In cross-validation, with parameters chosen on some hours and run on the other hours, ${won} of ${counted(paths.length, 'path')} made a profit.`;
  const forward = walkForward.filter(({ net }) => net > 0).length;
  const walked =
    walkForward.length === 0
      ? ''
      : ` In the walk-forward test, ${forward} of ${counted(walkForward.length, 'step')} made a profit.`;
  const held =
    stability === null
      ? ''
      : ` Of the ${counted(stability.neighbours, 'neighbor')} of the best trial (one changed parameter each), ${Math.round(stability.share * stability.neighbours)} earned at least ${100 - 100 * stability.within}% of its net profit.`;
  if (pbo === null) return `There is too little data to measure overfitting.${path}${walked}${held}`;
  const word =
    pbo.value <= PBO_MAX
      ? 'the choice among the trials is also good out of sample'
      : pbo.value < 0.5
        ? 'the choice among the trials is uncertain, because other trials may be as good'
        : 'the choice among the trials is no better than a random choice';
  return `Probability of overfitting ${share(pbo.value)}: ${word}.${keptText(pbo)}${path}${walked}${held}`;
}

/**
 * Returns a sentence about the trials that are best in one half of the time blocks: their mean profit in the other
 * half, relative to their mean profit in the half in which they are best.
 */
function keptText({ inSample, outOfSample }: NonNullable<Evidence['pbo']>): string {
  if (!(inSample > 0)) return '';
  if (!(outOfSample > 0))
    return ' On average over the splits, the trial that was best in one half of the time blocks made no profit in the other half.';
  return ` On average over the splits, the trial that was best in one half of the time blocks earned ${Math.round((100 * outOfSample) / inSample)}% as much in the other half.`;
}

function holdoutWords(holdout: HeldOut | null, minor: string): readonly string[] {
  if (holdout === null) return [];
  const { at, by, net, interval } = holdout;
  return [
    `The holdout was opened by ${by} at ${at}. With each fill valued at the mid price 60 s later, the net profit of the best trial on the holdout is ${gainText(net, minor)} ${minor}${around(interval, minor)}.`,
  ];
}

const around = (interval: Interval | null, minor: string): string =>
  interval === null ? '' : ` (95% interval: ${gainText(interval.low, minor)} to ${gainText(interval.high, minor)})`;
