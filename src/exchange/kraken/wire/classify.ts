/**
 * Classification of Kraken's replies: successful, certainly rejected, or unknown. A success needs `error: []` and the
 * expected result; a rejection of a write needs texts that all prove it.
 */
import type { WireReply } from '../../../core/index.ts';
import { parsedJson } from '../../wire/json.ts';
import { readContent } from '../../wire/requestParts.ts';
import { list, text, WireFault } from '../../wire/wire.ts';
import type { ApiRequest, RequestVerdict } from '../../transport/requestSender.ts';
import { isKrakenThrottle, krakenCode, krakenMeaning } from './errorCodes.ts';

/** Code of a rejection without an error text, which a firewall or proxy sent instead of the exchange. */
const NO_ERROR_TEXT = 'no error text';

/** Returns the verdict on a reply. `partsMax` is the maximum number of parts of its JSON. */
export function classifyKraken<T>(
  reply: WireReply,
  question: Pick<ApiRequest<T>, 'effect' | 'read'>,
  partsMax?: number,
): RequestVerdict<T> {
  const { status } = reply;
  const { errors, result } = contentOf(reply.body, partsMax);
  const throttled = status === 429 || errors?.some(isKrakenThrottle) === true;
  const said = errors === undefined || errors.length === 0 ? '' : `, ${errors.join('; ')}`;
  const isNonce = errors?.some(each => krakenMeaning(each) === 'nonce') === true;
  const unknown = (reason: string): RequestVerdict<T> => ({
    outcome: { kind: 'unknown', reason, ...(isNonce ? { meaning: 'nonce' } : {}) },
    throttled,
  });
  const refused = (code: string, message: string): RequestVerdict<T> => ({
    outcome: { kind: 'refused', code, message, status },
    throttled,
  });
  const isRead = question.effect === 'read';
  if (!(status >= 200 && status < 500) || (status >= 300 && status < 400)) return unknown(`HTTP ${status}${said}`);
  if (errors === undefined) {
    const why = `the reply with HTTP status ${status} is not JSON in the exchange's format`;
    return isRead && status >= 400 ? refused(NO_ERROR_TEXT, why) : unknown(why);
  }
  if (errors.length > 0) {
    const isProven = errors.every(text => krakenCode(text)?.is === 'refused') && result === undefined;
    return isRead || isProven ? refused(errors[0]!, plainWords(errors)) : unknown(`HTTP ${status}${said}`);
  }
  if (status >= 400) return unknown(`the reply has HTTP status ${status}, but lists no error`);
  if (result === undefined) return unknown('the reply has neither an error nor a result');
  return { outcome: readContent(result, question.read), throttled };
}

/** Returns the texts in plain words, or as sent if they are not in the table. */
const plainWords = (errors: readonly string[]): string => errors.map(text => krakenCode(text)?.text ?? text).join('; ');

type Content = { readonly errors?: readonly string[]; readonly result?: unknown };

/** Returns the error texts and the result. Without a readable list of errors, both are absent. */
function contentOf(body: string, partsMax: number | undefined): Content {
  const content = parsedJson(body, partsMax);
  if (typeof content !== 'object' || content === null) return {};
  const { error, result } = content as { readonly error?: unknown; readonly result?: unknown };
  const errors = errorTexts(error);
  if (errors === undefined) return {};
  const isEmpty = result === undefined || result === null || (errors.length > 0 && isEmptyObject(result));
  return { errors, ...(isEmpty ? {} : { result }) };
}

function errorTexts(value: unknown): readonly string[] | undefined {
  try {
    return list(value, each => text({ each }, 'each'), 'error');
  } catch (error) {
    if (error instanceof WireFault) return undefined;
    throw error;
  }
}

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
