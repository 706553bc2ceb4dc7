/** Reads and actions of the HTTP API: the reads of the commands, and actions that are executed once per key. */
import type { ApiActionOver, ApiRead, ConsoleApi, ShownEvent } from '../../console/index.ts';
import type { Clock, Millis } from '../../core/index.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { actionsIn, isAskedChange, type ActionEntry } from '../actions/actionJournal.ts';
import { bookOfAsk } from '../actions/actionBook.ts';
import type { ActionAsk, ActionEnd } from '../actions/actions.ts';
import { executeAction } from '../actions/executeAction.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { timeText } from '../../messages/timeText.ts';
import { SharedWork } from '../inspect/sharedWork.ts';
import type { BotRead } from '../actions/botReads.ts';
import { apiProposals } from './consoleProposals.ts';
import { recoverChange } from '../actions/setParameter.ts';
import { actionAsk, shownParameters } from './consoleActions.ts';

export type ApiWork = {
  readonly read: (read: BotRead) => Promise<string>;
  /** Returns the summary of the bot or of a book as JSON; `null` before it is made. */
  readonly summary: (book: string | undefined) => string | null;
  readonly preview: (ask: ActionAsk) => Promise<readonly string[]>;
  /** Previews an action that an agent proposes, without a delay for the previews of operators. */
  readonly proposalPreview: (ask: ActionAsk) => Promise<readonly string[]>;
  /** Returns the events that recordings do not contain (halts, operator actions, logins), oldest first. */
  readonly events: (book: string | undefined) => readonly ShownEvent[];
};

/** Maximum number of results that are kept in memory; the action journal has earlier ones. */
const RESULTS_MAX = 1_000;

/** Returns the reads and actions of a bot. `canAct`: whether actions are on. */
export function consoleApi(bot: WhichBot, clock: Clock, canAct: boolean, work: ApiWork): ConsoleApi {
  const reads = new SharedWork<string>();
  return {
    read: async read => {
      if (read.what === 'summary') {
        const summary = work.summary(read.book);
        if (summary === null) throw new UsageError('the console has just started; try again in a second');
        return summary;
      }
      if (read.what === 'events')
        return JSON.stringify(work.events(read.book).slice(-read.max).toReversed().map(datedEvent));
      if (read.what === 'parameters') return JSON.stringify(shownParameters(bot, read.book));
      const asked = botRead(read);
      return reads.of(JSON.stringify(asked), () => work.read(asked));
    },
    preview: canAct
      ? async request => {
          const ask = actionAsk(request, 'api', clock);
          if (ask.action === 'set') await recoverChange(bot, clock);
          return work.preview(ask);
        }
      : null,
    act: canAct ? keyedActions(bot, clock) : null,
    proposals: apiProposals(bot, clock, work.proposalPreview),
  };
}

const datedEvent = ({ at, ...rest }: ShownEvent): object => ({ at: timeText(at), ...rest });

type Kept = { readonly request: string; readonly end: Promise<ActionEnd> };

/**
 * Returns a function that executes an action once per key. A repetition returns the first result, also while the action
 * is under way, and after a restart as long as the action journal shows the entry. A request that was rejected before
 * it was executed is forgotten.
 */
function keyedActions(bot: WhichBot, clock: Clock): NonNullable<ConsoleApi['act']> {
  const kept = new Map<string, Kept>();
  return async (request, key): Promise<ApiActionOver> => {
    const text = JSON.stringify([
      request.action,
      request.reason,
      request.by,
      request.minutes,
      request.change,
      request.book,
    ]);
    const known = kept.get(key);
    if (known !== undefined)
      return known.request === text ? { ...(await known.end), isRepeated: true } : 'other request';
    const ask: ActionAsk = { ...actionAsk(request, 'api', clock), id: key };
    const earlier = earlierEnd(bot, ask, clock.now());
    if (earlier !== null) return earlier;
    const end = executeAction(bot, ask, clock);
    kept.set(key, { request: text, end });
    const [oldest] = kept.keys();
    if (kept.size > RESULTS_MAX && oldest !== undefined) kept.delete(oldest);
    end.catch(() => kept.delete(key));
    return { ...(await end), isRepeated: false };
  };
}

/** Returns the result of an action that the journal has under this id; `null` if it has none. */
function earlierEnd({ stateDir }: WhichBot, ask: ActionAsk, now: Millis): ApiActionOver | null {
  const { id, action, by, reason } = ask;
  const found = actionsIn(stateDir).find(entry => entry.id === id);
  if (found === undefined) return null;
  const isSame =
    found.via === 'api' &&
    found.action === action &&
    found.book === bookOfAsk(ask) &&
    found.by === by &&
    found.reason === reason &&
    (ask.action !== 'set' || isAskedChange(found.change, ask)) &&
    (ask.action !== 'pause' || pausedMinutes(found, found.at) === pausedMinutes(ask, now));
  return isSame ? { end: found.end, lines: found.lines, isRepeated: true } : 'other request';
}

/** Returns the duration of a pause that was requested at a time, in whole minutes; `null` for a pause until resume. */
const pausedMinutes = ({ untilMs }: Pick<ActionEntry, 'untilMs'>, at: Millis): number | null =>
  untilMs === undefined ? null : Math.round((untilMs - at) / 60_000);

function botRead(read: Exclude<ApiRead, { readonly what: 'events' | 'summary' | 'parameters' }>): BotRead {
  const book = 'book' in read && read.book !== undefined ? { book: read.book } : {};
  switch (read.what) {
    case 'status':
      return { what: 'status', as: 'json', ...book };
    case 'config':
      return { what: 'config', as: 'json' };
    case 'explain':
      return { what: 'explain', as: 'json', at: read.at, ...book };
    case 'fills':
      return { what: 'fills', as: 'json', max: read.max, ...book };
    case 'report': {
      const { from, to } = read;
      const days = {
        ...(from === undefined ? {} : { from: dayOf(from) }),
        ...(to === undefined ? {} : { to: dayOf(to) }),
      };
      return { what: 'report', as: 'json', days, ...book };
    }
  }
}

/**
 * Returns the start of a UTC day.
 * @throws UsageError if the day does not exist.
 */
function dayOf(day: string): Millis {
  const at = Date.parse(`${day}T00:00:00Z`);
  if (!Number.isFinite(at) || new Date(at).toISOString().slice(0, 10) !== day)
    throw new UsageError(`${day}: expected a day like 2026-11-01`);
  return at;
}
