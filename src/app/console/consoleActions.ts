/** What an operator does through the console: the same verbs as the commands, previewed and carried out with one and the same ask. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ActionRequest, ConsoleActions, ShownEvent } from '../../console/index.ts';
import type { Clock } from '../../core/index.ts';
import { actionsIn } from '../actions/actionJournal.ts';
import { ACTION_NAMES, checkedAsk } from '../actions/actions.ts';
import type { ActionAsk } from '../actions/actions.ts';
import { carryOut } from '../actions/carryOut.ts';
import { previewAction } from '../actions/previewAction.ts';
import type { WhichBot } from '../messages/ownCommand.ts';
import { digestOf } from '../run/reloading.ts';

/** What costs money is asked for where its cost can be read at leisure: on the command line. */
const OFFERED = ACTION_NAMES.filter(name => name !== 'flatten');

/** Of one bot. Nothing here needs a key: what is to happen is left where the bot heeds it. */
export function consoleActions(bot: WhichBot, clock: Clock): ConsoleActions {
  return {
    names: OFFERED,
    prepare: async request => {
      const ask = askOf(request, clock);
      const seen = fileSeen(bot, ask);
      // Of an id of its own: a bot's answer to it must not be taken for the answer to what is confirmed.
      const { lines } = await previewAction(bot, { ...ask, id: randomUUID() }, clock);
      return {
        lines,
        carryOut: async () => {
          if (fileSeen(bot, ask) === seen) return carryOut(bot, ask, clock);
          return { end: 'refused', lines: ['the file has changed since the preview: look at what it says now'] };
        },
      };
    },
  };
}

/** Of the file that a reload takes up: what was previewed is what is taken. Null for the other actions. */
const fileSeen = ({ configFile }: WhichBot, { action }: ActionAsk): string | null =>
  action === 'reload' && configFile !== undefined ? digestOf(readFileSync(configFile, 'utf8')) : null;

function askOf({ action, reason, by, minutes }: ActionRequest, clock: Clock): ActionAsk {
  const name = OFFERED.find(each => each === action);
  if (name === undefined) throw new Error(`expected one of ${OFFERED.join(', ')}`);
  const asked = { id: randomUUID(), reason, by, via: 'console' } as const;
  if (name !== 'pause') return checkedAsk({ ...asked, action: name }, clock.now());
  const until = minutes === null ? {} : { untilMs: clock.now() + minutes * 60_000 };
  return checkedAsk({ ...asked, action: name, ...until }, clock.now());
}

/** Who did what, by a command or here, and why, oldest first. */
export const actionEvents = (stateDir: string): readonly ShownEvent[] =>
  actionsIn(stateDir).map(({ at, by, via, action, reason, untilMs, end, lines }) => ({
    ...{ at, who: by, level: end === 'done' ? ('warn' as const) : ('error' as const) },
    text: [
      `${action}${untilMs === undefined ? '' : ` until ${new Date(untilMs).toISOString().slice(0, 16)}Z`}${via === 'console' ? ' by the console' : ''}: ${reason}`,
      ...(end === 'done' ? [] : [`refused: ${lines.join('; ')}`]),
    ].join('; '),
  }));
