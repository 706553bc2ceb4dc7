/** Classification of replies: successful, certainly rejected, or unknown (failure modes 0.1). */
import type { UnreadableRow, WireReply } from '../../../core/index.ts';
import { actionableMeaning, errorIn, isThrottle, NO_CODE, provesRefusal } from './errorCodes.ts';
import { parsedJson } from '../../wire/json.ts';
import { row, WireFault } from '../../wire/wire.ts';
import type { ApiRequest, RequestVerdict } from '../../transport/requestSender.ts';

/** Form of a reply, and which of its errors are certain rejections. */
export type ReplyForm = {
  /**
   * `payload`: an object with the content in `payload` (v3 and v4). `bare`: an object that is the content (RFQ and
   * webhook registration). `list`: a list that is the content.
   */
  readonly envelope: 'payload' | 'bare' | 'list';
  /** Whether an error text without a code is a certain rejection (only for webhook registration). */
  readonly wordsRefuse?: boolean;
};

export type ReplyReading<T> = Pick<ApiRequest<T, ReplyForm>, 'effect' | 'read' | keyof ReplyForm>;

/**
 * Classifies a reply. `throttleRefuses`: whether the exchange checks its rate limit before it handles an order. No
 * document confirms this; by default, the outcome of a throttled write is unknown.
 */
export function classify<T>(reply: WireReply, reading: ReplyReading<T>, throttleRefuses: boolean): RequestVerdict<T> {
  const { status } = reply;
  const body = parsedJson(reply.body);
  const error = errorIn(body);
  const write = reading.effect === 'write';
  const throttled = isThrottle(status, error?.code);
  const isNonce = error !== undefined && actionableMeaning(error.code) === 'nonce';
  const unknown = (reason: string): RequestVerdict<T> => ({
    outcome: { kind: 'unknown', reason, ...(isNonce ? { meaning: 'nonce' } : {}) },
    throttled,
  });
  const refused = (code: string, message: string): RequestVerdict<T> => ({
    outcome: { kind: 'refused', code, message, status },
    throttled,
  });
  const said = error ? `, ${error.code} ${error.message}`.trimEnd() : '';

  if (throttled) {
    const code = error && error.code !== NO_CODE ? error.code : '0801';
    return write && !throttleRefuses ? unknown(`throttled: HTTP ${status}${said}`) : refused(code, `throttled${said}`);
  }
  if (!(status >= 200 && status < 500) || (status >= 300 && status < 400)) return unknown(`HTTP ${status}${said}`);
  if (error) {
    if (isSuccess(row(body)['success'])) return unknown(`the reply reports both success and an error${said}`);
    const certain = error.code === NO_CODE ? reading.wordsRefuse === true : provesRefusal(error.code);
    return !write || certain ? refused(error.code, error.message) : unknown(`HTTP ${status}${said}`);
  }
  if (status >= 400) return unknown(`the reply with HTTP status ${status} has no readable error`);
  if (body === undefined) return unknown(`the reply with HTTP status ${status} is not JSON`);
  try {
    const unreadable: UnreadableRow[] = [];
    const done = (payload: unknown): RequestVerdict<T> => {
      const value = reading.read(payload, unreadable);
      return { outcome: { kind: 'done', value, ...(unreadable.length === 0 ? {} : { unreadable }) }, throttled };
    };
    if (reading.envelope === 'list') return done(body);
    const whole = row(body, 'reply');
    if (reading.envelope === 'payload' && !isSuccess(whole['success'])) return unknown('reply without success');
    return done(reading.envelope === 'payload' ? whole['payload'] : whole);
  } catch (problem) {
    if (problem instanceof WireFault) return unknown(problem.message);
    throw problem;
  }
}

/** Whether a reply reports success. Clients have seen several forms of true (public facts 3). */
const isSuccess = (success: unknown): boolean =>
  success === true || success === 'true' || success === '1' || success === 1;
