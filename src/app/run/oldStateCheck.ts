/**
 * Check for a state of this bot in the folder that older versions used, relative to the working directory. The bot must
 * not silently start without that state.
 */
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { counted, type Clock } from '../../core/index.ts';
import type { Config } from '../../config.ts';
import { STATE_FILE } from '../../live/state/journal.ts';
import type { Log } from '../../live/log.ts';
import { ownerText } from '../../live/state/owner.ts';
import { lookInto, type StateLook } from '../../live/state/stateSummary.ts';
import { UsageError } from '../../wiring/usageError.ts';

/**
 * Rejects with `UsageError` if the former folder has a state of this bot that must be moved or settled first. Examples
 * are a ledger that the new folder lacks, a halt, and orders that may still be open. `file` is the YAML file, `cwd` the
 * working directory.
 */
export async function assertNoOldState(
  config: Config,
  file: string,
  cwd: string,
  clock: Clock,
  log: Log,
): Promise<void> {
  const { dir } = config.state;
  const earlier = resolve(cwd, relative(dirname(resolve(file)), dir));
  if (earlier === resolve(dir)) return;
  const found = await lookInto(earlier, clock).catch(() => null);
  if (found === null || !isOf(config, found)) return;
  const isKept = existsSync(join(dir, STATE_FILE));
  const isPlay = config.exchange.kind === 'embedded';
  const reasons = reasonsOf(found, isPlay);
  if (reasons.length === 0 && (isKept || isPlay)) {
    if (!isPlay) log.warn({ earlier, dir }, `an old state of this bot in ${earlier} is not used; this run uses ${dir}`);
    return;
  }
  const what = reasons.length > 0 ? reasons.join(' and ') : 'its ledger';
  const settle = [
    ...(found.halt === null ? [] : [`puntas resume --state ${earlier} --reason "what you found"`]),
    ...found.bookHalts.map(({ book }) => `puntas resume --state ${earlier} --book ${book} --reason "what you found"`),
    ...(found.orders.length === 0 || isPlay ? [] : [`puntas run -c ${file} --state ${earlier} --for 10s`]),
  ].join(' and ');
  const move = existsSync(dir) ? `mv ${earlier}/* ${dir}/` : `mv ${earlier} ${dir}`;
  throw new UsageError(
    `the state directory of ${file} is ${dir}, but ${earlier} contains an older state of ${ownerText(found.owner!)}, with ${what}. Older versions of Puntas used that directory, because they resolved state.dir from the working directory instead of the folder of the configuration file. ${isKept ? `Investigate, then run ${settle}, and then move ${earlier} away` : `Move the older state with ${move}, then start the bot again`}`,
  );
}

/** Whether a state belongs to this bot, judged without requests to the exchange. */
const isOf = ({ exchange, book, instance }: Config, { owner }: StateLook): boolean =>
  owner !== null &&
  owner.book === book &&
  owner.instance === instance &&
  (exchange.kind === 'embedded'
    ? owner.venue === null
    : owner.venue?.startsWith(exchange.restUrl.replace(/\/$/, '')) === true);

const reasonsOf = ({ halt, bookHalts, orders }: StateLook, isPlay: boolean): string[] => [
  ...(halt === null ? [] : [`a halt (${halt.reason})`]),
  ...bookHalts.map(({ book, halt: { reason } }) => `a halt of ${book} (${reason})`),
  ...(orders.length === 0 || isPlay
    ? []
    : [`${counted(orders.length, 'order')} that may still be open (${orders.map(({ id }) => id).join(', ')})`]),
];
