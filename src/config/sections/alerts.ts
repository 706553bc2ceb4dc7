/** Keys of alerts: the channels, and which events are on, silent or off. */
import { z } from 'zod';
import { httpAddress } from './values.ts';

const ALERT_MODES = ['on', 'silent', 'off'] as const;
export type AlertMode = (typeof ALERT_MODES)[number];

type Kind = {
  /** Default mode of the event. */
  readonly mode: AlertMode;
  /** Whether the event may use the reserved part of the message limit. */
  readonly isCritical?: true;
  /** Whether the event is momentary, such as a fill. Other events start, last and end. */
  readonly isMoment?: true;
  readonly says: string;
};

/**
 * Alert events. An event that is also an alert in config/prometheus/alerts.yml has the prefix Puntas there: `bookStale`
 * is PuntasBookStale.
 */
export const ALERT_EVENTS = {
  down: {
    mode: 'on',
    isCritical: true,
    says: 'The sentinel reports that the bot sends no heartbeat, or exited without being stopped.',
  },
  halted: { mode: 'on', isCritical: true, says: 'Trading is halted until you run puntas resume.' },
  ledgerDiffers: { mode: 'on', isCritical: true, says: 'The balances differ from the ledger.' },
  sentinelGone: { mode: 'on', isCritical: true, says: 'The sentinel sends no heartbeat.' },
  diskLow: { mode: 'on', isCritical: true, says: 'Less than 500 MB is free on the disk of the state directory.' },
  bookStale: { mode: 'on', isCritical: true, says: 'The bot does not quote, because it has no current order book.' },
  ordersUnknown: {
    mode: 'on',
    isCritical: true,
    says: 'More than three orders had an unknown outcome within five minutes.',
  },
  notQuoting: { mode: 'on', says: 'The bot does not quote, for a reason that no other event covers.' },
  sourceLost: { mode: 'on', says: 'A source of the reference price has had no usable data for 30 s.' },
  sourceDivergent: { mode: 'on', says: 'A source of the reference price differs too much from the others.' },
  hedgeDebt: { mode: 'on', says: 'Inventory beyond the band has waited a minute for a hedge on the other exchange.' },
  reduceOnly: { mode: 'on', says: 'Reduce-only: quotes only reduce inventory.' },
  drawdownNear: { mode: 'on', says: 'Drawdown above 80% of limits.drawdownMax.' },
  dayLossNear: { mode: 'on', says: 'Daily loss above 80% of limits.dayLossMax.' },
  ordersRefused: {
    mode: 'on',
    says: 'The exchange rejected over 10 orders in five minutes, more than one per five accepted.',
  },
  oneSided: { mode: 'on', says: 'The bot has quoted only one side for ten minutes.' },
  requestsSlow: { mode: 'on', says: 'Over 10% of requests take over 2 s.' },
  requestsFailing: { mode: 'on', says: 'Over 20% of requests fail.' },
  budgetSpent: { mode: 'on', says: 'The request budget has been used up for a minute.' },
  loopSlow: { mode: 'on', says: 'Over 1% of decisions take over 50 ms.' },
  noFills: { mode: 'silent', says: 'No fill in six hours, or since the start, while quoting.' },
  wide: { mode: 'silent', says: 'Quotes are wider, because the market is volatile, wide or thin.' },
  started: { mode: 'silent', isMoment: true, says: 'The bot started.' },
  stopped: {
    mode: 'on',
    isCritical: true,
    isMoment: true,
    says: 'The bot stopped. The alert lists errors and orders that may still be open.',
  },
  fill: { mode: 'off', isMoment: true, says: 'An order was filled.' },
  digest: { mode: 'silent', isMoment: true, says: 'Daily summary: profit, fills, event counts.' },
} as const satisfies Readonly<Record<string, Kind>>;
export type AlertEvent = keyof typeof ALERT_EVENTS;
/** Returns the properties of one event. */
export const alertKind = (event: AlertEvent): Kind => ALERT_EVENTS[event];
export const ALERT_EVENT_NAMES = Object.keys(ALERT_EVENTS) as readonly AlertEvent[];

const modes = Object.fromEntries(
  ALERT_EVENT_NAMES.map(event => {
    const { mode, says } = alertKind(event);
    return [event, z.enum(ALERT_MODES).default(mode).describe(says)];
  }),
) as Readonly<Record<AlertEvent, z.ZodDefault<z.ZodEnum<{ on: 'on'; silent: 'silent'; off: 'off' }>>>>;

const remoteControl = z
  .strictObject({
    chats: z
      .array(z.string().regex(/^-?\d{1,20}$/, 'expected a chat id in quotation marks, like "-1001234567890"'))
      .min(1)
      .max(10)
      .describe('Ids of the chats in which commands are accepted, in quotation marks.'),
    users: z
      .array(z.string().regex(/^\d{1,20}$/, 'expected a user id in quotation marks, like "123456789"'))
      .min(1)
      .max(10)
      .describe('Ids of the users whose commands are accepted, in quotation marks.'),
    resume: z.boolean().default(false).describe('Whether /resume is accepted.'),
    besideRun: z.boolean().default(true).describe('Whether puntas run also starts the remote control.'),
  })
  .optional()
  .describe('Remote control from Telegram; if omitted, Telegram only receives alerts.');

const channel = {
  webhook: z
    .strictObject({
      url: httpAddress.optional().describe('Webhook address. If omitted, PUNTAS_ALERT_WEBHOOK_URL.'),
    })
    .optional()
    .describe('Webhook; requests are signed if PUNTAS_ALERT_WEBHOOK_SECRET is set.'),
  telegram: z
    .strictObject({
      chatId: z
        .string()
        .regex(
          /^(-?\d{1,20}|@\w{5,32})$/,
          'expected a chat id or a channel name in quotation marks, like "-1001234567890" or "@my_channel"',
        )
        .describe('Chat id, or @name of a public channel, in quotation marks.'),
      url: httpAddress.default('https://api.telegram.org').describe('Bot API address.'),
      remote: remoteControl,
    })
    .optional()
    .describe('Telegram chat; token in PUNTAS_TELEGRAM_TOKEN.'),
};

export const alerts = z
  .strictObject({
    ...channel,
    messagesPer10Min: z
      .int()
      .min(3)
      .max(100)
      .default(12)
      .describe('Maximum messages per channel in 10 minutes; a third is reserved for critical events.'),
    digestAt: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'expected a UTC time in quotation marks, like "07:30"')
      .default('00:00')
      .describe('UTC time of the daily summary, in quotation marks.'),
    events: z
      .strictObject(modes)
      .prefault({})
      .describe('silent: sent without sound; off: only counted in the summary.'),
  })
  .refine(({ webhook, telegram }) => webhook !== undefined || telegram !== undefined, {
    message: 'expected webhook, telegram or both; omit the section to send no alerts',
  })
  .describe('Alerts by webhook or Telegram.');
export type AlertSettings = z.infer<typeof alerts>;
