/**
 * Strategy file of the live file that a promotion replaces. The file can change later, so a rollback needs a copy of the
 * text that the bot ran before the promotion.
 */
import { dirname } from 'node:path';
import { parseDocument } from 'yaml';
import { strategyPinIn, type Config } from '../../config.ts';
import { strategyIdentity } from '../../../strategies/index.ts';
import { writeDurably } from '../../guard/index.ts';
import { strategyFilesIn } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { approvedStrategyIn } from '../run/approvedStrategy.ts';
import { pinStrategy, readLive, strategyCopyIn } from './candidate.ts';

/**
 * Returns the text that a rollback restores in place of `text`, the current live file. With a strategy file, it selects
 * a copy, which this function writes: of the text that the bot ran last, or that the live file pins. If the bot has not
 * run the file yet, the copy has the current text. Without a strategy file, or if its text is unknown, returns `text`.
 * `dir` is the folder of the promotions.
 */
export function restorableText(dir: string, liveFile: string, text: string): string {
  const read = readLive(text, liveFile, liveFile);
  const found = read.ok ? knownStrategy(read.config, liveFile, strategyPinIn(text)) : null;
  if (found === null) return text;
  const strategy = strategyCopyIn(dir, { name: found.name, sha256: found.sha256 });
  writeDurably(strategy.copy, found.code);
  const document = parseDocument(text, { uniqueKeys: false });
  pinStrategy(document, strategy, dirname(liveFile));
  return document.toString({ lineWidth: 0 });
}

/** Returns the strategy file of a live configuration with its text; `null` if there is none, or if it is unknown. */
function knownStrategy({ strategy, state }: Config, liveFile: string, pin: string | null) {
  if (!('file' in strategy)) return null;
  const ran = approvedStrategyIn(state.dir);
  const known = [...(ran?.file === strategy.file ? [ran] : []), ...currentStrategy(strategy.file, liveFile)];
  return known.find(({ sha256 }) => pin === null || sha256 === pin) ?? null;
}

function currentStrategy(file: string, liveFile: string) {
  try {
    const code = strategyFilesIn(dirname(liveFile))(file);
    const { name, sha256 } = strategyIdentity(file, code);
    return sha256 === undefined ? [] : [{ name, sha256, code }];
  } catch {
    return [];
  }
}

/**
 * Asserts that a rollback to `text` runs the strategy that ran before: a strategy file is pinned.
 * @throws UsageError otherwise, as for a promotion of a version that kept no copy of the file.
 */
export function assertRestorable(text: string, liveFile: string, promotion: number): void {
  const read = readLive(text, liveFile);
  if (!read.ok || !('file' in read.config.strategy) || strategyPinIn(text) !== null) return;
  const { file } = read.config.strategy;
  throw new UsageError(
    `${liveFile}: promotion ${promotion} kept no copy of the strategy file ${file} that ran before it, so the rollback could run another text; write the earlier configuration into ${liveFile} with strategy.sha256, and reload it`,
  );
}
