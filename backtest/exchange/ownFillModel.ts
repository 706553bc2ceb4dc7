/** Fill model from a fill model file of the user. */
import type { Instrument } from '../../src/core/index.ts';
import { queueWithHidden, sharedVolume, splitCancels, type FillModel } from '../../src/fills/index.ts';
import { fillModelIn, type StrategyCode } from '../../strategies/index.ts';

/** Fill model file with its text. `name`: name of the model in reports, with the first digits of the text's hash. */
export type FillModelFile = Required<Pick<StrategyCode, 'name' | 'file' | 'code' | 'sha256'>>;

/**
 * Returns the fill model of a file for one run. Its orders share the volume of an execution, as in `expected`. The
 * model throws StrategyFileError if a function of the file fails. `random` returns numbers from 0 to below 1.
 * @throws StrategyFileError if the text is not a fill model.
 */
export function ownFillModel(
  { name, file, code }: Omit<FillModelFile, 'sha256'>,
  instrument: Instrument,
  random: () => number,
): FillModel {
  const { ahead, canceledBehind } = fillModelIn(file, code)(instrument, random);
  // Without displayed lots ahead of the order and behind it, a cancel cannot be split.
  const split = splitCancels(name, (front, back) => (front + back > 0 ? canceledBehind(front, back) : Number.NaN));
  const queue = queueWithHidden(split, ({ left: amount }, displayed, isShown) => {
    const lots = ahead({ displayed, amount, isShown });
    return { shown: Math.min(lots, displayed), hidden: Math.max(0, lots - displayed) };
  });
  return { name, queue, rule: sharedVolume(queue) };
}
