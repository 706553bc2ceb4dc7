/** What a person may do to a bot, running or not, from a command or the console: the same verbs, words and journal for both. */
import { existsSync } from 'node:fs';
import type { Millis } from '../../core/index.ts';
import { checkedBy, checkedReason } from '../../messages/reason.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { UsageError } from '../../wiring/usageError.ts';

/** `docs/actions.md` has what each does with orders and with inventory. */
export const ACTION_NAMES = ['pause', 'resume', 'reduce', 'cancel', 'halt', 'reload', 'flatten'] as const;
export type ActionName = (typeof ACTION_NAMES)[number];

/** Where it was asked for. */
export type ActionVia = 'command' | 'console';

type Asked<Name extends ActionName> = {
  /** Never used before; letters, digits and dashes. */
  readonly id: string;
  readonly action: Name;
  /** Why, for those who read it later; only a reload may have none. */
  readonly reason: string;
  /** Who asks. */
  readonly by: string;
  readonly via: ActionVia;
};

export type PauseAsk = Asked<'pause'> & {
  /** When it ends by itself; absent: at a resume alone. */
  readonly untilMs?: Millis;
};

export type FlattenAsk = Asked<'flatten'> & {
  /** The most that it may cost in all, fees included: decimal text of the minor currency. A preview needs none. */
  readonly costMax: string;
};

export type ReloadActionAsk = Asked<'reload'> & {
  /** SHA-256 of the file that was previewed, in hex; absent: the file as it is now. */
  readonly digest?: string;
};

type Special = { readonly pause: PauseAsk; readonly flatten: FlattenAsk; readonly reload: ReloadActionAsk };
export type ActionAsk = {
  readonly [Name in ActionName]: Name extends keyof Special ? Special[Name] : Asked<Name>;
}[ActionName];

/** Lines for a person: what will be canceled, and what is quoted then. */
export type ActionPreview = { readonly lines: readonly string[] };

/** `refused`: it was not done, or not all of it; the lines say why, and what holds. */
export type ActionEnd = { readonly end: 'done' | 'refused'; readonly lines: readonly string[] };

/** With reason and name as they are kept: no control characters, no blanks around, at most so long. Throws `UsageError` on what no person should have to guess at later. */
export function checkedAsk<Ask extends ActionAsk>(ask: Ask, now: Millis): Ask {
  const reason = checkedReason(ask.reason, { canBeEmpty: ask.action === 'reload' });
  const by = checkedBy(ask.by);
  if (ask.action === 'pause' && ask.untilMs !== undefined && !(ask.untilMs > now))
    throw new UsageError('--for: expected a time in the future, like 30m; this pause would already be over');
  if (ask.action === 'flatten' && !isSum(ask.costMax))
    throw new UsageError(
      `--max-cost: expected the maximum total cost in the minor currency, like 250.50; found ${JSON.stringify(ask.costMax)}`,
    );
  return { ...ask, reason, by };
}

const isSum = (text: string): boolean => /^\d{1,15}(?:\.\d{1,8})?$/.test(text) && /[1-9]/.test(text);

/** Throws `UsageError` where there is none. */
export function stateDirOf({ stateDir }: WhichBot): string {
  if (!existsSync(stateDir))
    throw new UsageError(`${stateDir}: no such folder; expected the state directory of a bot (state.dir)`);
  return stateDir;
}
