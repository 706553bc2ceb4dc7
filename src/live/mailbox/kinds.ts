/** Kinds of messages between processes in a state directory: file, fields, and permitted writers. */
import { SMALL_FILE, TEXT_FILE } from '../../guard/index.ts';
import {
  countField,
  flagField,
  idField,
  linesField,
  matchingField,
  moneyField,
  nullableField,
  numberField,
  oneOfField,
  optionalField,
  textField,
  type MessageFields,
  type MessageOf,
} from './fields.ts';

export type MailSpec = {
  /** File name. If several messages of the kind can wait, the id of the message replaces `*`. */
  readonly file: string;
  /** Pattern of ids that can be part of a file name. */
  readonly ids?: RegExp;
  readonly fields: MessageFields;
  readonly bytesMax: number;
  /**
   * Whether the message is accepted only if no other user can write to the directory. A halt is accepted in any
   * directory, because it reduces risk.
   */
  readonly inTrustedDirOnly: boolean;
  /** Whether several processes may write the file concurrently; the last write wins. */
  readonly hasSeveralWriters: boolean;
};

const request = { bytesMax: SMALL_FILE, inTrustedDirOnly: true, hasSeveralWriters: false } as const;
const answer = { bytesMax: TEXT_FILE, inTrustedDirOnly: false, hasSeveralWriters: false } as const;
const latch = { bytesMax: SMALL_FILE, inTrustedDirOnly: false, hasSeveralWriters: false } as const;

const said = { at: numberField, by: textField, reason: textField };
/** `by`: process that set the latch, or `person` for an operator; `who`: name of the operator. */
const latched = {
  reason: textField,
  at: numberField,
  by: oneOfField('bot', 'sentinel', 'person'),
  who: optionalField(textField),
};

export const SETTLED_AS = ['executed', 'failed'] as const;

/** Actions that an agent can propose. A resume or a flatten adds risk or cost, so only a person can start it. */
export const PROPOSED_ACTIONS = ['pause', 'reduce', 'cancel', 'halt', 'reload'] as const;
/** Id of a proposal: `p-` and ten letters and digits that are not easily confused. */
export const PROPOSAL_ID = /^p-[a-hjkmnp-z2-9]{10}$/;

export const MAIL = {
  /**
   * Adjustment of the ledger; `amount` is positive if the exchange has more than the ledger. `inTransit`: the amount
   * left for the other exchange, or arrived from it.
   */
  adjust: {
    ...request,
    file: 'adjust-*.json',
    ids: /^[0-9a-f-]{8,40}$/,
    fields: {
      ...said,
      currency: matchingField(/^[a-z0-9]{1,20}(@[a-z0-9]{1,20})?$/),
      amount: moneyField('an amount other than 0', amount => amount !== 0n),
      inTransit: optionalField(flagField),
    },
  },
  /**
   * Outcome of a hedge, stated by the operator because the exchange does not report it. The id is the id of the hedge.
   * For an executed order on another exchange, the message has the executed amounts.
   */
  settle: {
    ...request,
    file: 'settle-*.json',
    ids: /^[A-Za-z0-9-]{1,60}$/,
    fields: {
      ...said,
      as: oneOfField(...SETTLED_AS),
      base: optionalField(moneyField('an amount above 0', amount => amount > 0n)),
      quote: optionalField(moneyField('an amount above 0', amount => amount > 0n)),
      fee: optionalField(moneyField('an amount of at least 0', amount => amount >= 0n)),
      feeCurrency: optionalField(matchingField(/^[a-z0-9]{1,20}$/)),
    },
  },
  /** Request to cancel every order and then quote again. */
  cancel: { ...request, file: 'cancel.json', fields: { id: idField, ...said } },
  /**
   * Answer to `cancel`. `gone`: the end of all orders is verified. `left`: all orders were canceled, but the end of
   * some is not verified. `kept`: no order was canceled.
   */
  cancelAnswer: {
    ...answer,
    file: 'cancel-answer.json',
    fields: { id: idField, end: oneOfField('gone', 'left', 'kept'), lines: linesField },
  },
  /**
   * Request to reload the configuration. `digest`: SHA-256 (hex) of the file that the operator read; `null` accepts any
   * content. `isPreview`: whether to only show the effect of the configuration.
   */
  reload: {
    ...request,
    file: 'reload.json',
    fields: { id: idField, ...said, digest: nullableField(textField), isPreview: flagField },
  },
  /**
   * Answer to `reload`. `taken`: the new configuration is in use. `shown`: the request was a preview. `kept`: the bot
   * continues with its old configuration.
   */
  reloadAnswer: {
    ...answer,
    file: 'reload-answer.json',
    fields: { id: idField, end: oneOfField('taken', 'nothing to do', 'shown', 'kept'), lines: linesField },
  },
  /**
   * Last preview that the operator saw. The next reload applies exactly the configuration of this preview, or nothing.
   */
  reloadPreview: {
    ...answer,
    file: 'reload-previewed.json',
    fields: { by: textField, at: numberField, digest: textField },
  },
  /** Resume in progress. The file exists until the resume is in the action journal. */
  resuming: {
    ...answer,
    file: 'resuming.json',
    fields: { by: textField, reason: textField, isPause: flagField, book: optionalField(textField) },
  },
  /**
   * Change of one key of the configuration file, in progress. The file exists until the change is in the action
   * journal. `before` and `after`: SHA-256 (hex) of the configuration file; `host` and `pid`: process that makes the
   * change.
   */
  changing: {
    ...request,
    file: 'changing.json',
    fields: {
      ...{
        id: idField,
        ...said,
        via: oneOfField('command', 'console', 'telegram', 'api', 'agent'),
        file: textField,
        key: textField,
        book: optionalField(textField),
      },
      ...{ from: nullableField(textField), to: nullableField(textField), before: textField, after: textField },
      ...{ asked: optionalField(nullableField(textField)), host: textField, pid: countField },
    },
  },
  /**
   * Request that the hedger close all inventory. The file exists until inventory is at its target, or an operator
   * resumes. `id` is also stored in the request's hedges, so that their costs count across restarts. `costMax` is the
   * maximum cost of these hedges together, with fees, in the quote currency.
   */
  flatten: {
    ...request,
    file: 'FLATTEN',
    fields: { id: idField, ...said, costMax: moneyField('an amount above 0', amount => amount > 0n) },
  },
  /**
   * Action that an agent proposed and a person can approve. `digest` is the SHA-256 (hex) of the id and the other
   * fields, and `basis` is that of the facts on which the effect depends. `lines` is the preview that the agent saw.
   */
  proposal: {
    ...answer,
    ...{ file: 'proposal-*.json', ids: PROPOSAL_ID, inTrustedDirOnly: true },
    fields: {
      at: numberField,
      expiresAt: numberField,
      agent: textField,
      action: oneOfField(...PROPOSED_ACTIONS),
      reason: textField,
      minutes: nullableField(countField),
      book: optionalField(textField),
      basis: textField,
      lines: linesField,
      digest: textField,
    },
  },
  /** Decision of a person about a proposal. It is written once, before the action, and never replaced. */
  decision: {
    ...answer,
    ...{ file: 'decision-*.json', ids: PROPOSAL_ID, inTrustedDirOnly: true },
    fields: {
      at: numberField,
      by: textField,
      via: oneOfField('console', 'command'),
      verdict: oneOfField('approved', 'rejected'),
      digest: textField,
    },
  },
  /**
   * Trial order of `puntas doctor` that passed, on an exchange whose client has traded only with test doubles. Its id is
   * the name of the exchange and the fingerprint of the account; `order` describes the order and its result.
   */
  trial: {
    ...answer,
    ...{ file: 'trial-*.json', ids: /^[a-z0-9]{1,20}-[0-9a-f]{32}$/, inTrustedDirOnly: true },
    fields: { at: numberField, exchange: textField, account: textField, order: textField },
  },
  halt: { ...latch, file: 'HALTED', fields: latched },
  /** Reason why the bot is reduce-only. */
  reduce: { ...latch, file: 'REDUCE', hasSeveralWriters: true, fields: latched },
  /** Pause by an operator. `until`: expiry time; `null` if only a resume ends the pause. */
  pause: {
    ...latch,
    file: 'PAUSED',
    inTrustedDirOnly: true,
    hasSeveralWriters: true,
    fields: { ...latched, until: nullableField(numberField) },
  },
  /**
   * Hold by the sentinel, which the sentinel ends when the bot reads the exchange again. `born` (start time) and
   * `reads` (number of complete reads) are from the bot's heartbeat at the time of the hold.
   */
  hold: { ...latch, file: 'HELD', fields: { ...latched, born: numberField, reads: countField } },
  /**
   * Open orders of the bot that another process saw. `count` is 0 only if that process has verified that no order is
   * open.
   */
  ordersSeen: {
    ...latch,
    file: 'orders-seen.json',
    fields: { at: numberField, by: oneOfField('sentinel', 'halt --cancel'), count: countField },
  },
} as const satisfies Readonly<Record<string, MailSpec>>;

export type MailKind = keyof typeof MAIL;
/** Kinds of which several messages can wait, each under its id. */
export type NumberedMailKind = {
  [K in MailKind]: (typeof MAIL)[K] extends { readonly ids: RegExp } ? K : never;
}[MailKind];

/** Message of a kind, with the types of its fields. */
export type MailMessage<K extends MailKind> = MessageOf<(typeof MAIL)[K]['fields']> & Numbered<K>;
type Numbered<K extends MailKind> = K extends NumberedMailKind ? { readonly id: string } : unknown;
