/** Operator's actions on a bot, running or not. Commands and console share names, texts and journal of the actions. */
import { isCost, PARAMETER_MAX, PARAMETER_VALUE } from '../../console/page/bounds.ts';
import type { Millis } from '../../core/index.ts';
import { checkedBy, checkedReason } from '../../messages/reason.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { requireStateFolder, UsageError } from '../../wiring/usageError.ts';

/** Names of the actions; `docs/actions.md` describes their effect on orders and inventory. */
export const ACTION_NAMES = ['pause', 'resume', 'reduce', 'cancel', 'halt', 'reload', 'flatten', 'set'] as const;
export type ActionName = (typeof ACTION_NAMES)[number];

/** Channels through which an action can be requested. `agent`: proposed by an agent and approved by a person. */
export const ACTION_VIAS = ['command', 'console', 'telegram', 'api', 'agent'] as const;
export type ActionVia = (typeof ACTION_VIAS)[number];

/** Channels as they follow the operator's name in a text; empty for a command. */
export const VIA_TEXT: Readonly<Record<ActionVia, string>> = {
  command: '',
  console: ' in the console',
  telegram: ' in Telegram',
  api: ' by the API',
  agent: ', proposed by an agent',
};

type Asked<Name extends ActionName> = {
  /** Unique id of the request: letters, digits and dashes. */
  readonly id: string;
  readonly action: Name;
  /** Reason, for the record; only a reload may have an empty reason. */
  readonly reason: string;
  /** Name of the operator. */
  readonly by: string;
  readonly via: ActionVia;
  /** Name that the agent gave itself, if an agent proposed the action. */
  readonly agent?: string;
};

/** Actions that can apply to one book instead of the whole bot. */
type BookAction = 'pause' | 'reduce' | 'halt' | 'resume';

/** Whether an action can apply to one book. */
export const isBookAction = (name: ActionName): name is BookAction =>
  name === 'pause' || name === 'reduce' || name === 'halt' || name === 'resume';

/** Request of an action that can apply to one book instead of the whole bot. */
export type BookAsk<Name extends BookAction> = Asked<Name> & {
  /** Book to which the action applies. If absent, it applies to the whole bot. */
  readonly book?: string;
};

export type PauseAsk = BookAsk<'pause'> & {
  /** Expiry time, in epoch ms. If absent, only `resume` ends the pause. */
  readonly untilMs?: Millis;
};

export type FlattenAsk = Asked<'flatten'> & {
  /** Maximum total cost, fees included: decimal text in the quote currency. Not used by a preview. */
  readonly costMax: string;
};

export type ReloadActionAsk = Asked<'reload'> & {
  /** SHA-256 (hex) of the previewed file. If absent, the current file is used. */
  readonly digest?: string;
};

export type SetAsk = Asked<'set'> & {
  /** Book whose key changes; absent for a bot with one book, and for a key that all books share. */
  readonly book?: string;
  /** Dotted path of a key, like `strategy.halfSpreadBps`. */
  readonly key: string;
  /** New value as text; `null` removes the key. */
  readonly value: string | null;
  /** SHA-256 (hex) of the file that was shown. If absent, the current file is used. */
  readonly digest?: string;
};

type Special = {
  readonly pause: PauseAsk;
  readonly reduce: BookAsk<'reduce'>;
  readonly halt: BookAsk<'halt'>;
  readonly resume: BookAsk<'resume'>;
  readonly flatten: FlattenAsk;
  readonly reload: ReloadActionAsk;
  readonly set: SetAsk;
};
export type ActionAsk = {
  readonly [Name in ActionName]: Name extends keyof Special ? Special[Name] : Asked<Name>;
}[ActionName];

/** Lines for the operator: the orders that would be canceled, and the quotes after the action. */
export type ActionPreview = { readonly lines: readonly string[] };

/** Result of an action. `refused`: the action was not executed, or only in part; `lines` then states the reason. */
export type ActionEnd = { readonly end: 'done' | 'refused'; readonly lines: readonly string[] };

/**
 * Returns the request with a normalized reason and name: no control characters, no outer spaces, limited length.
 * @throws UsageError if a field would be unclear in the record.
 */
export function checkedAsk<Ask extends ActionAsk>(ask: Ask, now: Millis): Ask {
  const reason = checkedReason(ask.reason, { canBeEmpty: ask.action === 'reload' });
  const by = checkedBy(ask.by);
  if (ask.action === 'pause' && ask.untilMs !== undefined && !(ask.untilMs > now))
    throw new UsageError('--for: expected a duration like 30m; the requested pause would already be over');
  if (ask.action === 'flatten' && !isCost(ask.costMax))
    throw new UsageError(
      `--max-cost: expected the maximum total cost in quote currency, like 250.50; found ${JSON.stringify(ask.costMax)}`,
    );
  if (ask.action === 'set' && !isParameter(ask))
    throw new UsageError(
      `expected a key of at most ${PARAMETER_MAX} characters, and a new value of 1 to ${PARAMETER_MAX} printable ASCII characters`,
    );
  return { ...ask, reason, by };
}

const isParameter = ({ key, value }: SetAsk): boolean =>
  key.length <= PARAMETER_MAX && (value === null || PARAMETER_VALUE.test(value));

/**
 * Returns the state directory of a bot.
 * @throws UsageError if the directory does not exist.
 */
export function stateDirOf({ stateDir }: WhichBot): string {
  requireStateFolder(stateDir);
  return stateDir;
}
