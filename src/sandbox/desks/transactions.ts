/**
 * Deposits, withdrawals, issuances, redemptions and conversions: their states, balance changes and refunds (rfq 2.5,
 * 2.6, 3).
 */
import { money, type Clock, type Millis, type Money, type Random, type TransactionStatus } from '../../core/index.ts';
import type { Account } from '../venue/accounts.ts';
import { DeskTimers } from './deskTimers.ts';
import type { DeskConversion } from './rfq.ts';
import { randomHex, randomUuid } from '../wire/uuid.ts';
import type { Venue } from '../venue/venue.ts';

export type TransferMethod = 'SPEI' | 'PLATFORM_TRANSFER';

type Moved = { readonly network: string; readonly asset: string; readonly sum: Money };
export type Bank = { readonly senderClabe: string; readonly senderName: string; readonly receiverClabe: string };

/** Details of a requested transaction. Ids and addresses that the request omits are random. */
export type Details =
  | (Moved & {
      readonly kind: 'CRYPTO_DEPOSIT' | 'CRYPTO_WITHDRAWAL';
      readonly from: string;
      readonly to: string;
      readonly hash: string;
    })
  | (Moved & {
      readonly kind: 'ISSUANCE';
      readonly method: TransferMethod;
      /** Bank of the transfer; SPEI only. */
      readonly bank: Bank | null;
      readonly fiatId: string | null;
      readonly from: string;
      readonly to: string;
      readonly hash: string;
    })
  | (Moved & {
      readonly kind: 'REDEMPTION';
      readonly method: TransferMethod;
      /** CLABE of the transfer; SPEI only. */
      readonly clabe: string | null;
      readonly fiatId: string | null;
    })
  | { readonly kind: 'CONVERSION'; readonly conversion: DeskConversion };

export type Failure = { readonly reason: string; readonly code: string };

export const REFUND_STEPS = {
  ISSUANCE: ['PLATFORM_TRANSFER', 'SPEI_WITHDRAWAL'],
  REDEMPTION: ['PLATFORM_TRANSFER', 'TOKEN_MINT', 'TOKEN_TRANSFER', 'TOKEN_DEPOSIT'],
} as const;

export type RefundProgress = {
  readonly step: string;
  status: 'IN_PROGRESS' | 'COMPLETE' | 'FAILED';
  id: string | null;
};
export type Refund = { status: TransactionStatus; readonly steps: RefundProgress[] };
/** Steps of a refund, in order; if the outcome is FAILED, the last step fails. */
export type RefundPlan = { readonly steps: readonly string[]; readonly outcome: 'COMPLETE' | 'FAILED' };

export type TransactionPlan = {
  readonly failure: Failure | null;
  /** Refund that the exchange starts after the transaction has ended; `null` for no refund. */
  readonly refund: RefundPlan | null;
};

export type Transaction = {
  readonly id: string;
  readonly account: Account;
  readonly details: Details;
  /**
   * Whether the sum of a withdrawal stays locked until the withdrawal ends, instead of being debited at its creation.
   */
  readonly locks: boolean;
  readonly externalRef: string | null;
  readonly createdAt: Millis;
  /** Time of the last change. Increases with every change, even if the clock has not advanced. */
  updatedAt: Millis;
  status: TransactionStatus;
  failure: Failure | null;
  refund: Refund | null;
  /** Whether a refund has returned the money. */
  refunded: boolean;
};

/** Maximum number of stored transactions; the oldest are dropped first. */
export const TRANSACTIONS_MAX = 10_000;

export class Transactions {
  readonly #venue: Venue;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #publish: (transaction: Transaction, must: boolean) => void;
  readonly #all = new Map<string, Transaction>();
  readonly #timers: DeskTimers;

  constructor(venue: Venue, random: Random, publish: (transaction: Transaction, must: boolean) => void) {
    this.#venue = venue;
    this.#clock = venue.clock;
    this.#timers = new DeskTimers(venue.clock);
    this.#random = random;
    this.#publish = publish;
  }

  all(): readonly Transaction[] {
    return [...this.#all.values()];
  }

  find(id: string): Transaction | undefined {
    return this.#all.get(id);
  }

  address(): string {
    return randomHex(this.#random, 20);
  }

  hash(): string {
    return randomHex(this.#random, 32);
  }

  reference(): string {
    return randomUuid(this.#random);
  }

  /**
   * Starts a transaction. Returns `null` if the account cannot pay a withdrawal or redemption. A withdrawal is debited
   * at creation (rest-api 2.9) or, by a switch, locked until the withdrawal ends. A redemption is debited immediately,
   * because the tokens are burned. A deposit or issuance is credited at completion.
   */
  start(
    account: Account,
    details: Exclude<Details, { kind: 'CONVERSION' }>,
    plan: TransactionPlan,
    externalRef: string | null,
  ): Transaction | null {
    const { kind, asset, sum } = details;
    const locks = kind === 'CRYPTO_WITHDRAWAL' && this.#venue.switches.withdrawalTotal === 'at completion';
    if (locks) {
      if (!(sum <= account.available(asset))) return null;
      account.lock(asset, sum);
    } else if (kind === 'CRYPTO_WITHDRAWAL' || kind === 'REDEMPTION') {
      if (!this.#venue.withdraw(account, asset, sum)) return null;
    }
    const now = this.#clock.now();
    const transaction = this.#keep({
      id: randomUuid(this.#random),
      account,
      details,
      locks,
      externalRef,
      createdAt: now,
      updatedAt: now,
      status: 'PENDING',
      failure: null,
      refund: null,
      refunded: false,
    });
    this.#publish(transaction, false);
    this.#later(() => {
      this.#change(transaction, () => (transaction.status = 'IN_PROGRESS'), false);
      this.#later(() => this.#end(transaction, details, plan));
    });
    return transaction;
  }

  /** Starts a refund. Returns the reason if the transaction cannot be refunded, else `null`. */
  refund(transaction: Transaction, plan: RefundPlan): string | null {
    const { details, status } = transaction;
    if (details.kind !== 'ISSUANCE' && details.kind !== 'REDEMPTION')
      return 'only issuances and redemptions can be refunded';
    if (status !== 'COMPLETE' && status !== 'FAILED') return 'the transaction is not finished yet';
    if (transaction.refund) return 'the transaction already has a refund';
    if (details.kind === 'REDEMPTION' && status === 'FAILED')
      return 'the redemption failed, so the money was already returned';
    this.#refund(transaction, details, plan);
    return null;
  }

  /** Creates or updates the transaction of an RFQ conversion. */
  conversion(conversion: DeskConversion): void {
    const status = conversion.status === 'COMPLETED' ? 'COMPLETE' : conversion.status;
    const known = this.#all.get(conversion.id);
    if (known) {
      this.#change(known, () => (known.status = status), status !== 'PENDING');
      return;
    }
    const transaction = this.#keep({
      id: conversion.id,
      account: conversion.account,
      details: { kind: 'CONVERSION', conversion },
      locks: false,
      externalRef: null,
      createdAt: conversion.createdAt,
      updatedAt: conversion.updatedAt,
      status,
      failure: null,
      refund: null,
      refunded: false,
    });
    this.#publish(transaction, status !== 'PENDING');
  }

  close(): void {
    this.#timers.stop();
  }

  #end(transaction: Transaction, details: Exclude<Details, { kind: 'CONVERSION' }>, plan: TransactionPlan): void {
    const { account } = transaction;
    const { kind, asset, sum } = details;
    const hasTaken = kind === 'REDEMPTION' || (kind === 'CRYPTO_WITHDRAWAL' && !transaction.locks);
    if (transaction.locks) account.lock(asset, money(-sum));
    if (plan.failure) {
      if (hasTaken && !(kind === 'REDEMPTION' && plan.refund)) this.#venue.deposit(account, asset, sum, 'withdrawal');
    } else if (transaction.locks) {
      if (!this.#venue.withdraw(account, asset, sum))
        throw new RangeError(`account ${account.id}: cannot withdraw ${sum} ${asset} that was locked`);
    } else if (!hasTaken) this.#venue.deposit(account, asset, sum);
    const end = () => {
      transaction.failure = plan.failure;
      transaction.status = plan.failure ? 'FAILED' : 'COMPLETE';
    };
    this.#change(transaction, end, true);
    const { refund } = plan;
    if (refund && (kind === 'ISSUANCE' || kind === 'REDEMPTION'))
      this.#later(() => {
        if (!transaction.refund) this.#refund(transaction, details, refund);
      });
  }

  #refund(transaction: Transaction, details: Details & { kind: 'ISSUANCE' | 'REDEMPTION' }, plan: RefundPlan): void {
    const refund: Refund = { status: 'PENDING', steps: [] };
    this.#change(transaction, () => (transaction.refund = refund), true);
    this.#later(() => {
      // The refund of an issuance debits the credited sum. If the account no longer has that sum, the refund fails.
      const credited = details.kind === 'ISSUANCE' && transaction.status === 'COMPLETE';
      if (credited && !this.#venue.withdraw(transaction.account, details.asset, details.sum, 'funding')) {
        this.#change(transaction, () => (refund.status = 'FAILED'), true);
        return;
      }
      const begin = () => {
        refund.status = 'IN_PROGRESS';
        refund.steps.push({ step: plan.steps[0]!, status: 'IN_PROGRESS', id: null });
      };
      this.#change(transaction, begin, true);
      this.#later(() => this.#step(transaction, refund, plan, credited));
    });
  }

  /** Ends the current step, then starts the next step or ends the refund. */
  #step(transaction: Transaction, refund: Refund, plan: RefundPlan, credited: boolean): void {
    const last = refund.steps.length === plan.steps.length;
    const failed = last && plan.outcome === 'FAILED';
    const late = this.#venue.switches.refundStepId === 'later';
    const filled = this.#fill(refund);
    const step = refund.steps[refund.steps.length - 1]!;
    const change = () => {
      step.status = failed ? 'FAILED' : 'COMPLETE';
      if (!failed && !late) step.id = this.#reconciliationId(step.step);
      if (last) refund.status = plan.outcome;
      else refund.steps.push({ step: plan.steps[refund.steps.length]!, status: 'IN_PROGRESS', id: null });
      if (last && !failed) transaction.refunded = true;
    };
    if (last) this.#pay(transaction, failed, credited);
    this.#change(transaction, change, last || filled);
    if (!last) this.#later(() => this.#step(transaction, refund, plan, credited));
    else if (!failed && late) this.#later(() => this.#change(transaction, () => this.#fill(refund), true));
  }

  /**
   * Credits the money at the end of a refund: for a redemption if the refund succeeded, for an issuance if the refund
   * failed.
   */
  #pay({ account, details }: Transaction, failed: boolean, credited: boolean): void {
    if (details.kind === 'CONVERSION') return;
    const due = details.kind === 'REDEMPTION' ? !failed : failed && credited;
    // A refund is listed under the kind of transfer that it reverses: a redemption as a withdrawal, an issuance as a
    // negative funding.
    const listed = details.kind === 'REDEMPTION' ? 'withdrawal' : 'funding';
    if (due) this.#venue.deposit(account, details.asset, details.sum, listed);
  }

  /** Sets the missing ids of completed steps. Returns false if no id was missing. */
  #fill(refund: Refund): boolean {
    const open = refund.steps.filter(step => step.status === 'COMPLETE' && step.id === null);
    for (const step of open) step.id = this.#reconciliationId(step.step);
    return open.length > 0;
  }

  /** Returns a blockchain transaction hash for a token step, or an id for a fiat step. */
  #reconciliationId(step: string): string {
    return step.startsWith('TOKEN_') ? this.hash() : this.reference();
  }

  #change(transaction: Transaction, change: () => void, must: boolean): void {
    change();
    transaction.updatedAt = Math.max(this.#clock.now(), transaction.updatedAt + 1);
    this.#publish(transaction, must);
  }

  #keep(transaction: Transaction): Transaction {
    this.#all.set(transaction.id, transaction);
    for (const oldest of this.#all.keys()) {
      if (this.#all.size <= TRANSACTIONS_MAX) break;
      this.#all.delete(oldest);
    }
    return transaction;
  }

  #later(call: () => void): void {
    this.#timers.after(this.#venue.switches.transactionStepMs, call);
  }
}
