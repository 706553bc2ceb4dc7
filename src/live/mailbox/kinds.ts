/** Every kind of message that one process leaves for another in a state directory: its file, its fields, and who may leave it. */
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
} from './fields.ts';
import type { MessageFields, MessageOf } from './fields.ts';

export type MailSpec = {
  /** Name of the file; `*` stands for the id of the message, where several of the kind can wait. */
  readonly file: string;
  /** Ids that can be part of a file name. */
  readonly ids?: RegExp;
  readonly fields: MessageFields;
  readonly bytesMax: number;
  /** Left only in a directory that nobody else can write. A halt is left in any: it takes risk away. */
  readonly inTrustedDirOnly: boolean;
  /** Several processes may leave it at the same time. The last one stays. */
  readonly hasSeveralWriters: boolean;
};

const request = { bytesMax: SMALL_FILE, inTrustedDirOnly: true, hasSeveralWriters: false } as const;
const answer = { bytesMax: TEXT_FILE, inTrustedDirOnly: false, hasSeveralWriters: false } as const;
const latch = { bytesMax: SMALL_FILE, inTrustedDirOnly: false, hasSeveralWriters: false } as const;

/** Name of the operator, and the reason that the operator gave. */
const said = { at: numberField, by: textField, reason: textField };
/** `by`: which process, or that an operator did it; `who`: the name of the operator. */
const latched = {
  reason: textField,
  at: numberField,
  by: oneOfField('bot', 'sentinel', 'person'),
  who: optionalField(textField),
};

export const SETTLED_AS = ['executed', 'failed'] as const;

export const MAIL = {
  /** Booking for the ledger; `amount`: above zero if the exchange has more than the ledger. */
  adjust: {
    ...request,
    file: 'adjust-*.json',
    ids: /^[0-9a-f-]{8,40}$/,
    fields: {
      ...said,
      currency: matchingField(/^[a-z0-9]{1,20}$/),
      amount: moneyField('an amount other than 0', amount => amount !== 0n),
    },
  },
  /** Outcome of a hedge that nobody can look up; its id is that of the hedge. */
  settle: {
    ...request,
    file: 'settle-*.json',
    ids: /^[A-Za-z0-9-]{1,60}$/,
    fields: { ...said, as: oneOfField(...SETTLED_AS) },
  },
  /** Request to cancel every order and to quote again. */
  cancel: { ...request, file: 'cancel.json', fields: { id: idField, ...said } },
  /** `left`: all was canceled, and not all of it is verified to be gone. `kept`: nothing was done. */
  cancelAnswer: {
    ...answer,
    file: 'cancel-answer.json',
    fields: { id: idField, end: oneOfField('gone', 'left', 'kept'), lines: linesField },
  },
  /**
   * Request to reload the configuration. `digest`: SHA-256 of the file as the operator read it, in hex; `null`: of whatever the bot
   * finds. `isPreview`: the bot shows what it would do, and does nothing.
   */
  reload: {
    ...request,
    file: 'reload.json',
    fields: { id: idField, ...said, digest: nullableField(textField), isPreview: flagField },
  },
  /** `kept`: the bot continues with the configuration that it had. */
  reloadAnswer: {
    ...answer,
    file: 'reload-answer.json',
    fields: { id: idField, end: oneOfField('taken', 'nothing to do', 'shown', 'kept'), lines: linesField },
  },
  /** What an operator saw in a preview: the reload that follows takes that, or nothing. */
  reloadPreview: {
    ...answer,
    file: 'reload-previewed.json',
    fields: { by: textField, at: numberField, digest: textField },
  },
  /** Resume command that has started; there until the journal of actions has it. */
  resuming: { ...answer, file: 'resuming.json', fields: { by: textField, reason: textField, isPause: flagField } },
  /**
   * Request that the hedger closes everything; there until inventory is at its target, or an operator resumes. `id`: hedges that are
   * started for it carry it, so that its costs count on after a restart. `costMax`: cost at most of all its hedges together, fees
   * included, in the minor currency.
   */
  flatten: {
    ...request,
    file: 'FLATTEN',
    fields: { id: idField, ...said, costMax: moneyField('an amount above 0', amount => amount > 0n) },
  },
  /** Why trading is halted. */
  halt: { ...latch, file: 'HALTED', fields: latched },
  /** Why inventory is only closed. */
  reduce: { ...latch, file: 'REDUCE', hasSeveralWriters: true, fields: latched },
  /** Pause by an operator; `until`: when it ends; `null` if only a resume ends it. */
  pause: {
    ...latch,
    file: 'PAUSED',
    inTrustedDirOnly: true,
    hasSeveralWriters: true,
    fields: { ...latched, until: nullableField(numberField) },
  },
  /**
   * Hold by the sentinel, which lifts it when the bot reads the exchange again. `born` and `reads`: the bot's heartbeat as it was then,
   * which process and how many whole reads.
   */
  hold: { ...latch, file: 'HELD', fields: { ...latched, born: numberField, reads: countField } },
  /** Open orders of the bot as another process has seen them; `count`: 0 only if that was verified. */
  ordersSeen: {
    ...latch,
    file: 'orders-seen.json',
    fields: { at: numberField, by: oneOfField('sentinel', 'halt --cancel'), count: countField },
  },
} as const satisfies Readonly<Record<string, MailSpec>>;

export type MailKind = keyof typeof MAIL;
/** Kinds of which several can wait, each under its id. */
export type NumberedMailKind = {
  [K in MailKind]: (typeof MAIL)[K] extends { readonly ids: RegExp } ? K : never;
}[MailKind];

/** Message of a kind, as its fields say. */
export type MailMessage<K extends MailKind> = MessageOf<(typeof MAIL)[K]['fields']> & Numbered<K>;
type Numbered<K extends MailKind> = K extends NumberedMailKind ? { readonly id: string } : unknown;
