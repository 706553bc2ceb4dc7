/** Reader of Telegram updates. All text in an update is written by others and is only compared, cut and shown. */
import { shownText, type Millis } from '../../core/index.ts';

/** Chat and user of an update, as ids; `name` is chosen by the user and proves nothing. */
export type ChatSender = { readonly chat: string; readonly user: string; readonly name: string };

export type ChatUpdate = {
  /** Number of the update. Telegram repeats an update under the same number until it is confirmed. */
  readonly id: number;
  /** Sender; `null` if the update names no chat or no user. */
  readonly sender: ChatSender | null;
  readonly content: ChatContent;
};

export type ChatContent =
  | {
      readonly kind: 'command';
      /** Name without slash, in lower case. */
      readonly command: string;
      /** Bot to which the command is addressed (`/halt@my_bot`); `null` if none is named. */
      readonly addressee: string | null;
      /** Text after the command, on one line. */
      readonly words: string;
      /** Time of the message by Telegram's clock, in ms since 1970; whole seconds. */
      readonly at: Millis;
    }
  | { readonly kind: 'button'; readonly callbackId: string; readonly data: string }
  | { readonly kind: 'other' };

const COMMAND = /^\/([a-z_]{1,32})(?:@(\w{1,64}))?(?:\s+([^]*))?$/i;
const WORDS_MAX = 500;
const NAME_MAX = 30;

/** Returns an update; `null` if it has no number. Content that is not a command or a button is `other`. */
export function readChatUpdate(raw: unknown): ChatUpdate | null {
  const update = fieldsIn(raw);
  const id = update['update_id'];
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) return null;
  if ('callback_query' in update) return buttonIn(id, fieldsIn(update['callback_query']));
  const message = fieldsIn(update['message']);
  return { id, sender: senderIn(message['from'], message['chat']), content: commandIn(message) };
}

function buttonIn(id: number, query: FieldMap): ChatUpdate {
  const { id: callbackId, data, from, message } = query;
  const isUsable = typeof callbackId === 'string' && callbackId.length <= 100 && typeof data === 'string';
  const content = isUsable ? ({ kind: 'button', callbackId, data } as const) : ({ kind: 'other' } as const);
  return { id, sender: senderIn(from, fieldsIn(message)['chat']), content };
}

function commandIn({ text, date, forward_origin: forwarded, via_bot: via }: FieldMap): ChatContent {
  // A forwarded text was written for another purpose, and possibly by another user.
  if (typeof text !== 'string' || typeof date !== 'number' || forwarded !== undefined || via !== undefined)
    return { kind: 'other' };
  const found = COMMAND.exec(text.trim());
  if (found === null) return { kind: 'other' };
  const [, command = '', addressee = null, words = ''] = found;
  return {
    kind: 'command',
    command: command.toLowerCase(),
    addressee,
    words: oneLine(words, WORDS_MAX),
    at: date * 1_000,
  };
}

function senderIn(from: unknown, chat: unknown): ChatSender | null {
  const [user, place] = [fieldsIn(from), fieldsIn(chat)];
  const [userId, chatId] = [idIn(user['id']), idIn(place['id'])];
  if (userId === null || chatId === null) return null;
  const name = user['first_name'];
  return { chat: chatId, user: userId, name: typeof name === 'string' ? oneLine(name, NAME_MAX) : '' };
}

const idIn = (value: unknown): string | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value !== 0 ? String(value) : null;

const oneLine = (text: string, max: number): string =>
  [...shownText(text).replace(/\s+/g, ' ').trim()].slice(0, max).join('').trim();

type FieldMap = Readonly<Record<string, unknown>>;
const fieldsIn = (value: unknown): FieldMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as FieldMap) : {};
