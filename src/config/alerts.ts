/** Keys of alerts: the channels, and which events are loud, silent or off. */
import { z } from 'zod';
import { httpAddress } from './values.ts';

const ALERT_MODES = ['on', 'silent', 'off'] as const;
export type AlertMode = (typeof ALERT_MODES)[number];

type Kind = {
  /** Default mode. */
  readonly mode: AlertMode;
  /** Whether it may use the reserved part of the message limit. */
  readonly isCritical?: true;
  /** Whether it is a single moment, like a fill; the others start, last and end. */
  readonly isMoment?: true;
  readonly says: string;
};

/**
 * All events. Those that are also in config/prometheus/alerts.yml share their names: `bookStale` is PuntasBookStale.
 */
export const ALERT_EVENTS = {
  down: {
    mode: 'on',
    isCritical: true,
    says: 'Of the sentinel: the process of the bot is gone, or it shows no life, and it was not stopped.',
  },
  halted: { mode: 'on', isCritical: true, says: 'Nothing is quoted until a person resumes it.' },
  ledgerDiffers: { mode: 'on', isCritical: true, says: "The exchange's balances differ from the ledger." },
  sentinelGone: { mode: 'on', isCritical: true, says: 'The sentinel shows no life.' },
  diskLow: { mode: 'on', isCritical: true, says: 'Less than 500 MB left on the disk of the state directory.' },
  bookStale: { mode: 'on', isCritical: true, says: 'Not quoting: no order book is read.' },
  ordersUnknown: {
    mode: 'on',
    isCritical: true,
    says: 'More than three orders with an unknown outcome in five minutes.',
  },
  notQuoting: { mode: 'on', says: 'Not quoting, for any other reason that is no halt and no stop.' },
  reduceOnly: { mode: 'on', says: 'Only inventory is closed.' },
  drawdownNear: { mode: 'on', says: 'The profit has fallen by 80 % of limits.drawdownMax from its highest.' },
  dayLossNear: { mode: 'on', says: '80 % of limits.dayLossMax are lost.' },
  ordersRefused: { mode: 'on', says: 'The exchange refuses many orders.' },
  oneSided: { mode: 'on', says: 'One side only for ten minutes.' },
  requestsSlow: { mode: 'on', says: 'One request in ten takes over 2 s.' },
  requestsFailing: { mode: 'on', says: 'Over a fifth of the requests fail.' },
  budgetSpent: { mode: 'on', says: 'No request may be sent for a minute, because the budget is spent.' },
  loopSlow: { mode: 'on', says: 'One decision in a hundred takes over 50 ms.' },
  noFills: { mode: 'silent', says: 'Quoting for hours without a fill.' },
  wide: { mode: 'silent', says: 'The spread is wide, because the market moves fast, is wide or thin.' },
  started: { mode: 'silent', isMoment: true, says: 'The bot was started.' },
  stopped: {
    mode: 'on',
    isCritical: true,
    isMoment: true,
    says: 'The bot has stopped; with what broke, and each order that may be left.',
  },
  fill: { mode: 'off', isMoment: true, says: 'An order was filled.' },
  digest: { mode: 'silent', isMoment: true, says: 'Once a day: profit, fills, and how often each event happened.' },
} as const satisfies Readonly<Record<string, Kind>>;
export type AlertEvent = keyof typeof ALERT_EVENTS;
/** Returns the properties of one event. */
export const alertKind = (event: AlertEvent): Kind => ALERT_EVENTS[event];
export const EVENTS_TOLD = Object.keys(ALERT_EVENTS) as readonly AlertEvent[];

const modes = Object.fromEntries(
  EVENTS_TOLD.map(event => {
    const { mode, says } = alertKind(event);
    return [event, z.enum(ALERT_MODES).default(mode).describe(says)];
  }),
) as Readonly<Record<AlertEvent, z.ZodDefault<z.ZodEnum<{ on: 'on'; silent: 'silent'; off: 'off' }>>>>;

const channel = {
  webhook: z
    .strictObject({
      url: httpAddress
        .optional()
        .describe(
          'Address to which each message is posted as JSON. Left out: it is in PUNTAS_ALERT_WEBHOOK_URL, for one that nobody else may know.',
        ),
    })
    .optional()
    .describe('Posts each message to an address; signed, where PUNTAS_ALERT_WEBHOOK_SECRET is set.'),
  telegram: z
    .strictObject({
      chatId: z
        .string()
        .regex(/^(-?\d{1,20}|@\w{5,32})$/, 'expected the id of a chat as quoted text, like "-1001234567890"')
        .describe('Chat that is written to, as quoted text: its number, or @name of a public channel.'),
      url: httpAddress
        .default('https://api.telegram.org')
        .describe('Base address of the Bot API, for those who run a server of it themselves.'),
    })
    .optional()
    .describe('Writes to a chat as a bot of Telegram, whose token is in PUNTAS_TELEGRAM_TOKEN.'),
};

export const alerts = z
  .strictObject({
    ...channel,
    messagesPer10Min: z
      .int()
      .min(3)
      .max(100)
      .default(12)
      .describe(
        'Messages in any ten minutes, to each address; a third of them is kept for halted, down and the other critical events. What is more is told together, in the next.',
      ),
    digestAt: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'expected a time of the day in UTC as quoted text, like "07:30"')
      .default('00:00')
      .describe('When the daily digest is sent, in UTC, as quoted text.'),
    events: z
      .strictObject(modes)
      .prefault({})
      .describe('How each event is told: on; silent, without a sound; off, only counted in the digest.'),
  })
  .refine(({ webhook, telegram }) => webhook !== undefined || telegram !== undefined, {
    message: 'expected webhook, telegram or both; leave the section out to tell nobody',
  })
  .describe('Tells a person what happened, by a webhook or Telegram. Left out: nobody is told; Alertmanager may.');
export type AlertSettings = z.infer<typeof alerts>;
