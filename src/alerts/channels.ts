/**
 * Alert channels: a signed webhook and a Telegram chat. Requests are sequential and without redirects; one deadline
 * applies to a request and its complete answer.
 */
import { createHmac } from 'node:crypto';
import { readAlertSecrets, type AlertSecrets, type AlertSettings } from '../config.ts';
import { maskedText, Secret, shownText, type Millis } from '../core/index.ts';
import { readSecretFile } from '../wiring/secretFiles.ts';
import { UsageError } from '../wiring/usageError.ts';
import { cut, messageText, type Message } from './message.ts';
import type { AlertChannel, SendOutcome } from './outbox.ts';
import { JsonReceiver, type TextMask } from './receiver.ts';

/**
 * Deadline of a request, in ms. If the request also waits two seconds before it is sent, its alert still arrives within
 * five seconds of the cause.
 */
const DEADLINE_MS = 3_000;
/** Maximum length of a Telegram message, in UTF-16 units. */
const TELEGRAM_MAX = 4_096;
const WEBHOOK_TEXT_MAX = 16_384;
const RETRY_AFTER_MAX_S = 600;

/**
 * Reads the required secrets and removes them from the environment.
 * @throws UsageError that names the missing secrets.
 */
export function alertSecrets(settings: AlertSettings): AlertSecrets<Secret> {
  const read = readAlertSecrets(settings, process.env, readSecretFile, text => new Secret(text));
  if (!read.ok) throw new UsageError(read.errors);
  for (const name of ['PUNTAS_TELEGRAM_TOKEN', 'PUNTAS_ALERT_WEBHOOK_SECRET', 'PUNTAS_ALERT_WEBHOOK_URL'])
    delete process.env[name];
  return read.secrets;
}

/**
 * Returns every configured channel. `hidden`: texts that no message may show, in addition to the secrets; `deadlineMs`:
 * time limit for a complete answer.
 */
export function channelsOf(
  settings: AlertSettings,
  secrets: AlertSecrets<Secret>,
  hidden: readonly string[],
  deadlineMs: Millis = DEADLINE_MS,
): readonly AlertChannel[] {
  const { webhook, telegram } = settings;
  const url = webhook?.url ?? secrets.webhookUrl?.reveal();
  const all = Object.values(secrets).flatMap(secret => (secret === null ? [] : [secret.reveal()]));
  const secretTexts = [...hidden, ...all];
  const mask = (text: string) => maskedText(text, secretTexts);
  return [
    ...(url === undefined ? [] : [webhookChannel(url, secrets.webhookSecret, new JsonReceiver(mask, deadlineMs))]),
    ...(telegram && secrets.telegramToken
      ? [telegramChannel(telegram, secrets.telegramToken, new JsonReceiver(mask, deadlineMs))]
      : []),
  ];
}

/**
 * Returns a webhook channel that follows Standard Webhooks 1.0: id, time and signature in three headers; type,
 * timestamp and data in the body.
 */
function webhookChannel(url: string, secret: Secret | null, way: JsonReceiver): AlertChannel {
  return {
    // The name has no path, because the path of some addresses is a secret.
    name: `webhook at ${new URL(url).origin}`,
    close: () => way.close(),
    send: async message => {
      const { id, at, title, isSilent, entries } = fit(message, way.mask);
      const text = messageText({ title, entries }, WEBHOOK_TEXT_MAX);
      const events = entries.map(entry => ({ ...entry, at: new Date(entry.at).toISOString() }));
      const data = { title, isSilent, text, events };
      const body = JSON.stringify({ type: 'puntas.alert', timestamp: new Date(at).toISOString(), data });
      const time = String(Math.floor(at / 1000));
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': time,
        ...(secret && { 'webhook-signature': `v1,${signatureOf(secret, `${id}.${time}.${body}`)}` }),
      };
      const answer = await way.post(url, headers, body);
      return 'why' in answer ? { kind: 'later', why: answer.why } : judged(answer, `answered ${answer.status}`);
    },
  };
}

/** Masks secrets before texts are cut, because a partial secret would not be recognized. */
const fit = (message: Message, mask: TextMask): Message => ({
  ...message,
  entries: message.entries.map(entry => ({ ...entry, text: mask(shownText(entry.text)) })),
});

/**
 * Signs a text. If the secret has the form `whsec_…`, the key is the decoded base64 text after the prefix, as in
 * Standard Webhooks.
 */
function signatureOf(secret: Secret, text: string): string {
  const shown = secret.reveal();
  const key = shown.startsWith('whsec_') ? Buffer.from(shown.slice(6), 'base64') : Buffer.from(shown, 'utf8');
  return createHmac('sha256', key).update(text).digest('base64');
}

/**
 * Returns a Telegram channel that uses the method sendMessage of the Bot API: plain text without markup or link
 * previews.
 */
function telegramChannel(
  { chatId, url }: { readonly chatId: string; readonly url: string },
  token: Secret,
  way: JsonReceiver,
): AlertChannel {
  return {
    name: `telegram chat ${chatId}`,
    close: () => way.close(),
    send: async (message: Message) => {
      const body = JSON.stringify({
        chat_id: chatId,
        text: messageText(fit(message, way.mask), TELEGRAM_MAX),
        disable_notification: message.isSilent,
        link_preview_options: { is_disabled: true },
      });
      const answer = await way.post(`${url}/bot${token.reveal()}/sendMessage`, {}, body);
      if ('why' in answer) return { kind: 'later', why: answer.why };
      const { description, parameters } = replyJson(answer.text);
      const said = typeof description === 'string' ? `: ${description}` : '';
      const why = cut(way.mask(shownText(`answered ${answer.status}${said}`)), 300);
      return judged({ status: answer.status, retryAfter: parameters?.retry_after ?? answer.retryAfter }, why);
    },
  };
}

function replyJson(text: string): { description?: unknown; parameters?: { retry_after?: unknown } } {
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch {
    return {};
  }
}

/** Classifies an answer: delivered, to be retried, or permanently rejected. */
function judged({ status, retryAfter }: { status: number; retryAfter: unknown }, why: string): SendOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status < 500 && ![408, 425, 429].includes(status)) return { kind: 'refused', why };
  const seconds = Number(retryAfter);
  const afterMs = seconds > 0 ? 1000 * Math.min(seconds, RETRY_AFTER_MAX_S) : 0;
  return { kind: 'later', why, afterMs };
}
