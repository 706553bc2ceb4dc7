/**
 * Strategy file of the live file that a promotion replaces. The file can change later, so a rollback needs a copy of
 * the text that the bot ran before the promotion.
 */
import { basename, dirname, join, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { strategyPinIn, type Config } from '../../config.ts';
import { strategyFileOf } from '../../../strategies/index.ts';
import { orNull, writeDurably } from '../../guard/index.ts';
import { strategyFilesIn } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { approvedStrategiesIn, ranStrategyText } from '../run/approvedStrategy.ts';
import { digestOf } from '../run/reloading.ts';
import { pinStrategy, readLive, strategyCopyIn } from './candidate.ts';

/** Text that a rollback restores. */
export type Restorable = {
  readonly text: string;
  /** Reason for which a rollback to this text is refused; `null` if it is possible. */
  readonly problem: string | null;
};

/**
 * Returns the text that a rollback restores in place of `text`, the current live file. With a strategy file, it selects
 * a copy, which this function writes: of the text that the live file pins, or that the bot took last. A text that no
 * one has approved is never pinned. `dir` is the folder of the promotions.
 */
export function restorableText(dir: string, liveFile: string, text: string): Restorable {
  const read = readLive(text, liveFile, liveFile);
  if (!read.ok || !('file' in read.config.strategy)) return { text, problem: null };
  const { file } = read.config.strategy;
  const found = knownStrategy(read.config, liveFile, strategyPinIn(text));
  if (found === null)
    return {
      text,
      problem: `no approved text of the strategy file ${file} is known, because the bot has not run it and strategy.sha256 does not have its SHA-256`,
    };
  const strategy = strategyCopyIn(dir, { name: found.name, sha256: found.sha256 });
  writeDurably(strategy.copy, found.code);
  const document = parseDocument(text, { uniqueKeys: false });
  pinStrategy(document, strategy, dirname(liveFile));
  return { text: document.toString({ lineWidth: 0 }), problem: null };
}

/**
 * Returns the approved text of the strategy file of a live configuration: with the hash `pin`, or the text that the bot
 * took last. `null` if it is unknown.
 */
function knownStrategy({ strategy, state }: Config, liveFile: string, pin: string | null) {
  if (!('file' in strategy)) return null;
  const { file } = strategy;
  const now = currentText(file, liveFile);
  const current = now === null ? null : strategyFileOf(file, now);
  if (pin !== null) {
    const code = current?.sha256 === pin ? now : ranStrategyText(state.dir, pin);
    return code === null ? null : strategyFileOf(file, code);
  }
  const [approved] = orNull(() => approvedStrategiesIn(state.dir)) ?? [];
  if (approved === undefined) return null;
  return approved.file === file ? approved : current?.sha256 === approved.sha256 ? current : null;
}

const currentText = (file: string, liveFile: string): string | null =>
  orNull(() => strategyFilesIn(dirname(liveFile))(file));

/**
 * Asserts that a rollback to `text` runs the strategy that ran before: a strategy file is pinned, and its copy has the
 * pinned SHA-256. `repairs`: whether a lost or changed copy is written again, if a run of the bot has the text.
 * @throws UsageError otherwise, as for a promotion of a version that kept no copy of the file.
 */
export function assertRestorable(
  { liveFile, dir }: { readonly liveFile: string; readonly dir: string },
  text: string,
  promotion: number,
  repairs: boolean,
): void {
  const read = readLive(text, liveFile);
  if (!read.ok || !('file' in read.config.strategy)) return;
  const { strategy, state } = read.config;
  const { file } = strategy;
  const pin = strategyPinIn(text);
  if (pin === null)
    throw new UsageError(
      `${liveFile}: promotion ${promotion} kept no copy of the strategy file ${file} that ran before it, so the rollback could run another text; write the earlier configuration into ${liveFile} with strategy.sha256, and reload it`,
    );
  const now = currentText(file, liveFile);
  if (now !== null && digestOf(now) === pin) return;
  const { copy } = strategyCopyIn(dir, strategyFileOf(file, ''));
  const path = resolve(dirname(liveFile), file);
  // A file of the operator is never overwritten.
  const isOwnCopy = path === join(dirname(dirname(copy)), pin, basename(copy));
  const code = isOwnCopy ? ranStrategyText(state.dir, pin) : null;
  if (code === null)
    throw new UsageError(
      `${path}: the strategy file ${now === null ? 'cannot be read' : 'was changed'}; restore the text with the SHA-256 ${pin}, which the rollback needs`,
    );
  if (repairs) writeDurably(path, code);
}
