/** Preview of a rollback: the keys that change, and the quotes of a running bot before and after. */
import { configChanges } from '../../config.ts';
import { replayedMoment } from '../inspect/explain.ts';
import { lifeOf } from '../inspect/botLife.ts';
import { nextPreview, quotesBeside } from '../run/nextQuotes.ts';
import { changeText } from '../run/reloading.ts';
import { readLive } from './candidate.ts';
import { liveTextOf, textOfCopy } from './liveFile.ts';
import type { Promoted, PromoteOptions } from './promoteCommand.ts';
import { journalOf, nothingToRollBack } from './promotionJournal.ts';

/**
 * Returns the preview of a rollback; changes nothing.
 * @throws UsageError if there is nothing to roll back.
 */
export function previewBack({ liveFile, dir, clock }: PromoteOptions): Promoted {
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
  const { engine, rules, seen } = replayedMoment({ dir: state, at: null });
  const at = seen.at ?? clock.now();
  const hasOthers = then.config.reference !== undefined;
  const quotes = hasOthers ? [] : quotesBeside(engine, nextPreview(then.config, rules, engine, at, null), rules);
  return shown([would, ...changes, ...quotes, 'the running bot would reload the file']);
}
