/** Methods of the Telegram Bot API that the remote control uses. Answers are limited in size and time. */
import { JsonReceiver } from '../../alerts/receiver.ts';
import { maskedText, shownLines, type Millis, type Secret } from '../../core/index.ts';

/**
 * Result of a call. `afterMs`: time for which Telegram asks the caller to wait; 0 if it does not ask. `isFinal`: whether
 * a repetition would fail too.
 */
export type ApiResult<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly why: string; readonly afterMs: Millis; readonly isFinal: boolean };

/** Button below a message. `data` is sent back when the button is pressed; at most 64 bytes. */
export type ChatButton = { readonly text: string; readonly data: string };

/** Maximum length of a message, in UTF-16 units. */
export const MESSAGE_MAX = 4_096;
/** Time for which Telegram holds a request for updates open if there is none, in s. */
export const POLL_S = 25;
/** Maximum number of updates of one answer. */
const UPDATES_MAX = 20;
/** Maximum size of an answer, in bytes. An update has at most a few hundred kB, so 20 of them fit. */
const ANSWER_MAX = 16_777_216;
const DEADLINE_MS = 5_000;
const AFTER_MAX_MS = 60_000;

export class TelegramApi {
  readonly #base: string;
  readonly #mask: (text: string) => string;
  /** Connection of the long poll, so that messages do not wait for it. */
  readonly #poll: JsonReceiver;
  readonly #send: JsonReceiver;

  /** Creates a client. `url`: address of the Bot API. */
  constructor(url: string, token: Secret) {
    const secrets = [token.reveal()];
    this.#base = `${url}/bot${token.reveal()}`;
    this.#mask = text => maskedText(shownLines(text), secrets);
    this.#poll = new JsonReceiver(this.#mask, POLL_S * 1_000 + DEADLINE_MS, ANSWER_MAX);
    this.#send = new JsonReceiver(this.#mask, DEADLINE_MS);
  }

  /** Returns the user name of the Telegram bot. */
  async userName(): Promise<ApiResult<string>> {
    const result = await this.#call(this.#send, 'getMe', {});
    if (result.kind === 'failed') return result;
    const { username } = (result.value ?? {}) as { username?: unknown };
    return typeof username === 'string' && /^\w{1,64}$/.test(username)
      ? { kind: 'done', value: username }
      : failedCall('the answer to getMe has no user name');
  }

  /** Waits for updates from the id `offset`, and confirms all updates before that id. */
  async updates(offset: number): Promise<ApiResult<readonly unknown[]>> {
    const asked = { offset, timeout: POLL_S, limit: UPDATES_MAX, allowed_updates: ['message', 'callback_query'] };
    const result = await this.#call(this.#poll, 'getUpdates', asked);
    if (result.kind === 'failed') return result;
    return Array.isArray(result.value)
      ? { kind: 'done', value: result.value as readonly unknown[] }
      : failedCall('the answer to getUpdates has no list of updates');
  }

  /** Sends plain text. Secrets must not be in the text; the token is masked. */
  send(chat: string, text: string, button?: ChatButton): Promise<ApiResult<unknown>> {
    return this.#call(this.#send, 'sendMessage', {
      chat_id: chat,
      text: this.#mask(text),
      link_preview_options: { is_disabled: true },
      ...(button === undefined
        ? {}
        : { reply_markup: { inline_keyboard: [[{ text: button.text, callback_data: button.data }]] } }),
    });
  }

  /** Answers the press of a button with a short notice, which ends its progress display. */
  acknowledge(callbackId: string, text: string): Promise<ApiResult<unknown>> {
    return this.#call(this.#send, 'answerCallbackQuery', { callback_query_id: callbackId, text: this.#mask(text) });
  }

  /** Ends all requests, also a pending long poll. */
  async close(): Promise<void> {
    await Promise.all([this.#poll.close(), this.#send.close()]);
  }

  async #call(way: JsonReceiver, method: string, asked: object): Promise<ApiResult<unknown>> {
    const answer = await way.post(`${this.#base}/${method}`, {}, JSON.stringify(asked));
    if ('why' in answer) return failedCall(answer.why);
    if (answer.isCut) return failedCall(`the answer to ${method} is too long`);
    const { ok, result, description, parameters } = objectIn(answer.text);
    if (answer.status === 200 && ok === true) return { kind: 'done', value: result };
    const said = typeof description === 'string' ? `: ${description.slice(0, 300)}` : '';
    const seconds = Number((parameters as { retry_after?: unknown } | null | undefined)?.retry_after);
    const afterMs = seconds > 0 ? Math.min(seconds * 1_000, AFTER_MAX_MS) : 0;
    const isFinal = answer.status >= 400 && answer.status < 500 && ![408, 429].includes(answer.status);
    return failedCall(this.#mask(`${method} answered ${answer.status}${said}`), afterMs, isFinal);
  }
}

const failedCall = (why: string, afterMs: Millis = 0, isFinal = false) =>
  ({ kind: 'failed', why, afterMs, isFinal }) as const;

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
