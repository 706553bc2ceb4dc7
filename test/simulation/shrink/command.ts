/** A shrunk failure as one command that shows it again. */
import { PLANTED } from '../planted.ts';
import type { Task } from '../campaign.ts';

export function commandOf({
  seed,
  steer,
  keep,
  plain,
  safetyMs,
  untilMs,
  planted,
  reloads,
  actions,
  elsewhere,
  books,
}: Task): string {
  const options = [
    `--seed ${seed}`,
    ...(steer === undefined ? [] : [`--steer ${steer}`]),
    ...(keep === undefined ? [] : [`--keep ${JSON.stringify(keep)}`]),
    ...(plain === undefined || plain === '' ? [] : [`--plain ${plain}`]),
    ...(safetyMs === undefined ? [] : [`--heal ${safetyMs}`]),
    ...(untilMs === undefined ? [] : [`--until ${untilMs}`]),
    ...(planted === undefined ? [] : [`--planted ${JSON.stringify(planted)}`]),
    ...(elsewhere === true && !isElsewhere(planted) ? ['--elsewhere'] : []),
    ...(books === true && !isOfBooks(planted) ? ['--books'] : []),
    ...(actions === true && !byItself(planted) ? ['--actions'] : reloads === true ? ['--reloads'] : []),
  ];
  return `npm run sim -- ${options.join(' ')}`;
}

/** Some planted bugs bring the second exchange with them. */
const isElsewhere = (planted: string | undefined): boolean =>
  PLANTED.find(({ name }) => name === planted)?.elsewhere === true;

/** Some planted bugs bring the books with them. */
const isOfBooks = (planted: string | undefined): boolean =>
  PLANTED.find(({ name }) => name === planted)?.books === true;

/** Some planted bugs bring the operators with them. */
const byItself = (planted: string | undefined): boolean =>
  PLANTED.find(({ name }) => name === planted)?.actions === true;
