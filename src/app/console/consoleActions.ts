/** Operator actions through the console. As in the commands, preview and execution share one request. */
import { randomUUID } from 'node:crypto';
import type { ActionRequest, ConsoleActions, OnReplayed, ShownEvent, ShownParameters } from '../../console/index.ts';
import type { Clock, Millis } from '../../core/index.ts';
import { booksOf, listedParameters, parameterPlace, type Config } from '../../config.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { readConfigText } from '../../wiring/configFile.ts';
import { reloadedFile } from '../actions/reloadChanges.ts';
import { canUndo, lastRunOf, parameterFileOf, recoverChange } from '../actions/setParameter.ts';
import { actionsIn, actionTail, type ActionEntry } from '../actions/actionJournal.ts';
import { bookOfAsk } from '../actions/actionBook.ts';
import {
  ACTION_NAMES,
  checkedAsk,
  isBookAction,
  VIA_TEXT,
  type ActionAsk,
  type ActionVia,
} from '../actions/actions.ts';
import { executeAction } from '../actions/executeAction.ts';
import { bookLatchIn } from '../../live/safety/bookLatch.ts';
import { latchIn } from '../../live/safety/latch.ts';
import { pauseInForce } from '../../live/safety/pauseWatch.ts';
import { holdersOf } from '../inspect/botLife.ts';
import type { WhichBot } from '../../messages/ownCommand.ts';
import { reloadDigestOf } from '../run/reloading.ts';

type PreviewLines = (ask: ActionAsk, onShare: OnReplayed) => Promise<readonly string[]>;

/**
 * Returns the actions on one bot. The actions need no API key, because they write requests into the bot's state
 * directory. `hasHedger` returns whether flattening is possible now; `via` is recorded with each action.
 */
export function consoleActions(
  bot: WhichBot,
  clock: Clock,
  hasHedger: () => boolean,
  preview: PreviewLines,
  via: ActionVia = 'console',
): ConsoleActions {
  // The preview has its own id, so that its answer is not mistaken for the answer to the confirmed action.
  const previewed = (ask: ActionAsk, onShare: OnReplayed) => preview({ ...ask, id: randomUUID() }, onShare);
  return {
    get names() {
      return ACTION_NAMES.filter(name => name !== 'flatten' || hasHedger());
    },
    prepare: async (request, onShare) => {
      const asked = actionAsk(request, via, clock);
      if (asked.action === 'set') await recoverChange(bot, clock);
      // The confirmation is bound to what the preview was computed from.
      const seen = basisOf(bot, asked, clock.now());
      const ask = asked.action === 'reload' && seen !== null ? { ...asked, digest: seen } : asked;
      const lines = await previewed(ask, onShare);
      const bound =
        ask.action === 'flatten' ? [`total cost: at most ${ask.costMax} in quote currency, fees included`] : [];
      return {
        lines: [...bound, ...lines],
        execute: async () => {
          if (basisOf(bot, ask, clock.now()) === seen) return executeAction(bot, ask, clock);
          const what =
            ask.action === 'reload' || ask.action === 'set' ? 'the configuration file has' : 'the stops in force have';
          return { end: 'refused', lines: [`${what} changed since the preview; preview the action again`] };
        },
      };
    },
    parameters: book => shownParameters(bot, book),
    cost: (by, onShare) => {
      // The estimate does not depend on the maximum cost or the reason.
      const ask = { id: randomUUID(), action: 'flatten', reason: 'estimate of the cost', by, via } as const;
      return previewed({ ...ask, costMax: '1' }, onShare);
    },
  };
}

/**
 * Returns the facts on which the effect of an action depends: for `reload` and `set`, the digest of the file; for a
 * resume, the stops that it would lift; for a pause, the pause that it would replace. Returns `null` for other actions.
 */
function basisOf({ configFile, stateDir }: WhichBot, ask: ActionAsk, now: Millis): string | null {
  const { action } = ask;
  const book = bookOfAsk(ask);
  if (action === 'resume') return JSON.stringify(holdersOf(stateDir, now));
  if (action === 'pause')
    return JSON.stringify([
      pauseInForce(latchIn(stateDir), stateDir, now),
      book === undefined ? null : pauseInForce(bookLatchIn(stateDir, book), stateDir, now),
    ]);
  if ((action !== 'reload' && action !== 'set') || configFile === undefined) return null;
  return reloadedFile({ configFile, stateDir }).digest;
}

/** Returns a checked action with a new id. Throws an error for the operator if a field is invalid. */
export function actionAsk(
  { action, reason, by, minutes, costMax, change, book }: ActionRequest,
  via: ActionVia,
  clock: Clock,
): ActionAsk {
  const name = ACTION_NAMES.find(each => each === action);
  if (name === undefined) throw new Error(`expected one of ${ACTION_NAMES.join(', ')}`);
  if (book !== undefined && name !== 'set' && !isBookAction(name))
    throw new Error(`${name}: applies to the whole bot; choose all books`);
  const asked = { id: randomUUID(), reason, by, via };
  const of = book === undefined ? {} : { book };
  if (name === 'flatten') return checkedAsk({ ...asked, action: name, costMax: costMax ?? '' }, clock.now());
  if (name === 'set') {
    if (change === undefined) throw new Error('expected the key of a parameter and its new value');
    return checkedAsk({ ...asked, action: name, ...of, ...change }, clock.now());
  }
  if (!isBookAction(name)) return checkedAsk({ ...asked, action: name }, clock.now());
  if (name !== 'pause') return checkedAsk({ ...asked, action: name, ...of }, clock.now());
  const until = minutes === null ? {} : { untilMs: clock.now() + minutes * 60_000 };
  return checkedAsk({ ...asked, action: name, ...of, ...until }, clock.now());
}

/** Maximum number of earlier changes that are shown. */
const CHANGES_MAX = 20;

/**
 * Returns the parameters of the configuration file with their last changes. With several books, those of one book, each
 * with the books that share it; without `book`, those that all books share.
 * @throws UsageError if the file has errors, or no such book.
 */
export function shownParameters(bot: WhichBot, book?: string): ShownParameters {
  const { config, text } = readConfigText(parameterFileOf(bot));
  const books = booksOf(config);
  const shown = books.find(one => one.book === (book ?? config.book));
  if (shown === undefined)
    throw new UsageError(`${book!}: expected a book of this bot (${books.map(one => one.book).join(', ')})`);
  // The recording of the last run is read once for each book.
  const runs = new Map<Config, Config | null>();
  const runOf = (of: Config): Config | null => {
    if (!runs.has(of)) runs.set(of, lastRunOf(bot, of));
    return runs.get(of) ?? null;
  };
  const changes = actionsIn(bot.stateDir)
    .flatMap(({ at, by, reason, end, change, book: of }) =>
      end === 'done' && change ? [{ at, by, reason, ...(of !== undefined && { book: of }), ...change }] : [],
    )
    .slice(-CHANGES_MAX)
    .toReversed()
    .map(each => {
      const changed = books.find(one => one.book === (each.book ?? config.book));
      return { ...each, canUndo: changed !== undefined && canUndo(changed, runOf(changed), each.key, each.from) };
    });
  const parameters = listedParameters(shown, runOf(shown)).flatMap(each => {
    const place = parameterPlace(config, text, each.key, book);
    if (typeof place === 'string') return [];
    return [books.length === 1 ? each : { ...each, books: place.books }];
  });
  return { digest: reloadDigestOf(text, config), parameters, changes };
}

/**
 * Returns a function that lists the actions by command or console, with operator and reason, oldest first. Each call
 * reads only new entries.
 */
export function actionEvents(stateDir: string): () => readonly ShownEvent[] {
  const entries = actionTail(stateDir);
  return () => entries().map(shownAction);
}

const shownAction = ({
  at,
  book,
  by,
  via,
  agent,
  action,
  reason,
  untilMs,
  costMax,
  change,
  end,
  lines,
}: ActionEntry): ShownEvent => ({
  ...(book === undefined ? {} : { book }),
  ...{ at, who: by, level: end === 'done' ? ('warn' as const) : ('error' as const) },
  text: [
    `${action}${book === undefined ? '' : ` ${book}`}${untilMs === undefined ? '' : ` until ${new Date(untilMs).toISOString().slice(0, 16)}Z`}${costMax === undefined ? '' : ` for at most ${costMax}`}${change === undefined ? '' : ` ${change.key}: ${change.from ?? 'not set'} -> ${change.to ?? 'not set'}`}${VIA_TEXT[via]}${agent === undefined ? '' : ` (${agent})`}: ${reason}`,
    ...(end === 'done' ? [] : [`refused: ${lines.join('; ')}`]),
  ].join('; '),
});
