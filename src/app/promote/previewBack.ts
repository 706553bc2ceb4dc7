/** Preview of a rollback: the keys that change, and the quotes of a running bot before and after. */
import { configChanges, strategyHashesIn, type Config } from '../../config.ts';
import { lifeOf } from '../inspect/botLife.ts';
import { changeText } from '../run/reloading.ts';
import { quoteLines, recordedNow, recordedPreviews } from '../actions/recordedPreview.ts';
import { threadedStrategyPreview, type StrategyPreviewAsk } from '../actions/strategyPreview.ts';
import { readLive } from './candidate.ts';
import { assertRestorable } from './earlierStrategy.ts';
import { liveTextOf, textOfCopy } from './liveFile.ts';
import type { Promoted, PromoteOptions } from './promoteCommand.ts';
import { journalOf, nothingToRollBack } from './promotionJournal.ts';

/** Returns the preview of a rollback; changes nothing. Rejects with `UsageError` if there is nothing to roll back. */
export async function previewBack({ liveFile, dir, clock }: PromoteOptions): Promise<Promoted> {
  const { standing } = journalOf({ liveFile, dir });
  const { open, placed, pending } = standing;
  // A rollback that was decided but not completed is previewed, because it would be completed before any other
  // rollback.
  const last = pending?.isBack === true ? { promotion: pending.promotion, before: pending.to } : placed.at(-1);
  const shown = (lines: readonly string[]): Promoted => ({ end: 'shown', standing, check: null, lines, next: [] });
  if (open !== null && open.stage !== 'smallest')
    return shown([
      `promotion ${open.started.promotion} would be abandoned at stage ${open.stage}; ${liveFile} would not change`,
    ]);
  if (last === undefined) throw nothingToRollBack({ liveFile });
  if (last.before === null)
    return shown([`${liveFile} would be removed: there was no live file before promotion ${last.promotion}`]);
  const would = `${liveFile} would be restored to its content before promotion ${last.promotion}`;
  const now = liveTextOf(liveFile);
  if (now === null) return shown([would]);
  const text = textOfCopy(dir, last.before);
  assertRestorable({ liveFile, dir }, text, last.promotion, false);
  const then = readLive(text, liveFile, `the previous ${liveFile}`);
  if (!then.ok) return shown([would, 'the restored configuration would be invalid:', ...then.errors]);
  const current = readLive(now, liveFile, liveFile);
  // The comparison uses the current state section on both sides, so that the path of the state directory is never a
  // change.
  const changes = current.ok
    ? configChanges(current.config, { ...then.config, state: current.config.state }).map(changeText)
    : ['the current configuration is invalid:', ...current.errors];
  const { dir: state } = (current.ok ? current : then).config.state;
  if (lifeOf(state, clock.now()).state !== 'runs')
    return shown([would, ...changes, 'no bot is running with this file']);
  const quotes = await quotesThen(then.config, { path: liveFile, text, stateDir: state, now: clock.now() });
  return shown([would, ...changes, ...quotes, 'the running bot would reload the file']);
}

/** Returns the quotes of the running bot before and after the rollback; none if they need a reference price. */
async function quotesThen(config: Config, ask: Omit<StrategyPreviewAsk, 'hashes'>): Promise<readonly string[]> {
  if ('file' in config.strategy) {
    const preview = await threadedStrategyPreview({ ...ask, hashes: strategyHashesIn(config) });
    return 'refused' in preview ? preview.refused : preview.quotes;
  }
  if (config.reference !== undefined) return [];
  return quoteLines(recordedPreviews(config, recordedNow(ask.stateDir, ask.now)), config.books !== undefined);
}
