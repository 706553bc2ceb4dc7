/** The Bot API of Telegram on a real socket: updates with their numbers, long polling, messages with buttons, and the faults that a test asks for. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const REMOTE_TOKEN = '987654321:AAF-not_a_real_one_of_Telegram';

export type SentMessage = { readonly chat: string; readonly text: string; readonly button: string | null };
/** Answer instead of the usual one; `hang` answers nothing, `cut` closes the connection. */
export type Fault = { readonly status: number; readonly body: string } | 'hang' | 'cut';

export class TelegramDouble {
  readonly sent: SentMessage[] = [];
  readonly notices: string[] = [];
  /** Methods in the order in which they were called. */
  readonly calls: string[] = [];
  /** Faults of the next calls of a method, in their order. */
  readonly faults = new Map<string, Fault[]>();
  url = '';
  /** Whether every update is given again and again, as if no confirmation had arrived. */
  repeats = false;
  /** Time after which a request for updates is answered with none, in ms. */
  pollMs = 25_000;
  readonly #updates: { readonly update_id: number }[] = [];
  readonly #server = createServer();
  #waiting: { readonly reply: ServerResponse; readonly offset: number } | null = null;
  #nextId = 7_000;

  async start(): Promise<this> {
    this.#server.on('request', (request, reply) => {
      let body = '';
      request.on('data', part => (body += String(part)));
      request.on('end', () => this.#answer(String(request.url), body, reply));
    });
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** A message of a user, sent at a time in ms. */
  says(text: string, at: number, { chat = -100, user = 1, id = this.#nextId++, more = {} } = {}): number {
    const message = {
      ...{ message_id: id, date: Math.floor(at / 1000), text, chat: { id: chat, type: 'group' } },
      ...{ from: { id: user, is_bot: false, first_name: 'Ana' } },
      ...more,
    };
    return this.update({ update_id: id, message });
  }

  /** The press of a button. */
  presses(data: string, { chat = -100, user = 1, id = this.#nextId++ } = {}): number {
    const message = { message_id: 1, date: 0, chat: { id: chat, type: 'group' } };
    const callback = { id: `press-${id}`, data, from: { id: user, is_bot: false, first_name: 'Ana' }, message };
    return this.update({ update_id: id, callback_query: callback });
  }

  /** Any update, as it is. */
  update<Of extends { readonly update_id: number }>(update: Of): number {
    this.#updates.push(update);
    this.#give();
    return update.update_id;
  }

  /** The data of the last button that was sent. */
  get lastButton(): string {
    return this.sent.findLast(({ button }) => button !== null)?.button ?? '';
  }

  #answer(url: string, body: string, reply: ServerResponse): void {
    const method = url.slice(`/bot${REMOTE_TOKEN}/`.length);
    this.calls.push(method);
    const fault = this.faults.get(method)?.shift();
    if (fault === 'hang') return;
    if (fault === 'cut') return void reply.destroy();
    if (fault !== undefined) return void reply.writeHead(fault.status).end(fault.body);
    if (!url.startsWith(`/bot${REMOTE_TOKEN}/`)) return refused(reply, 401, 'Unauthorized');
    const asked = JSON.parse(body) as Record<string, unknown>;
    if (method === 'getMe') return done(reply, { id: 987654321, is_bot: true, username: 'desk_bot' });
    if (method === 'getUpdates') return this.#poll(asked, reply);
    if (method === 'sendMessage') return this.#take(asked, reply);
    if (method === 'answerCallbackQuery') {
      this.notices.push(String(asked['text']));
      return done(reply, true);
    }
    return refused(reply, 404, 'Not Found');
  }

  #poll(asked: Record<string, unknown>, reply: ServerResponse): void {
    if (this.#waiting !== null && !this.#waiting.reply.destroyed) {
      refused(this.#waiting.reply, 409, 'Conflict: terminated by other getUpdates request');
      this.#waiting = null;
    }
    const offset = Number(asked['offset']);
    if (!this.repeats) this.#updates.splice(0, this.#updates.filter(({ update_id: id }) => id < offset).length);
    this.#waiting = { reply, offset };
    reply.on('close', () => {
      if (this.#waiting?.reply === reply) this.#waiting = null;
    });
    const timer = setTimeout(() => {
      if (this.#waiting?.reply !== reply) return;
      this.#waiting = null;
      done(reply, []);
    }, this.pollMs);
    reply.on('close', () => clearTimeout(timer));
    this.#give();
  }

  /** As the documents say: from the number that was asked for, at most so many. */
  #give(): void {
    if (this.#waiting === null) return;
    const { reply, offset } = this.#waiting;
    const given = this.#updates.filter(({ update_id: id }) => this.repeats || id >= offset).slice(0, 20);
    if (given.length === 0) return;
    this.#waiting = null;
    done(reply, given);
  }

  #take(asked: Record<string, unknown>, reply: ServerResponse): void {
    const { chat_id: chat, text, reply_markup: markup } = asked;
    if (typeof text !== 'string' || text.trim() === '')
      return refused(reply, 400, 'Bad Request: message text is empty');
    if (text.length > 4_096) return refused(reply, 400, 'Bad Request: message is too long');
    const rows = (markup as { inline_keyboard?: { callback_data: string }[][] } | undefined)?.inline_keyboard;
    const button = rows?.[0]?.[0]?.callback_data ?? null;
    if (button !== null && Buffer.byteLength(button) > 64)
      return refused(reply, 400, 'Bad Request: BUTTON_DATA_INVALID');
    this.sent.push({ chat: String(chat), text, button });
    done(reply, { message_id: this.sent.length });
  }
}

const done = (reply: ServerResponse, result: unknown): void =>
  void reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ok: true, result }));
const refused = (reply: ServerResponse, status: number, description: string): void =>
  void reply.writeHead(status).end(JSON.stringify({ ok: false, error_code: status, description }));
