/** Transfer events of an exchange (rfq-and-webhooks 2.5, 2.6). */
import type { DecimalText, Millis } from '../model/units.ts';

export const TRANSACTION_KINDS = [
  'ISSUANCE',
  'REDEMPTION',
  'CRYPTO_DEPOSIT',
  'CRYPTO_WITHDRAWAL',
  'CONVERSION',
] as const;
export type TransactionKind = (typeof TRANSACTION_KINDS)[number];
export const TRANSACTION_STATUSES = ['PENDING', 'IN_PROGRESS', 'COMPLETE', 'FAILED'] as const;
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

/**
 * Event of one transaction. Events repeat and arrive out of order. An event whose `id` and final status were received
 * before is a repeat; of two events, the one with the greater `updatedAt` is newer.
 */
export type TransactionEvent = {
  readonly id: string;
  readonly status: TransactionStatus;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  readonly externalRef?: string;
} & TransactionParticulars;

export type TransactionParticulars =
  | ({ readonly kind: 'ISSUANCE' } & TransferDetails & Refundable & Sender & { readonly externalFiatId?: string })
  | ({ readonly kind: 'REDEMPTION' } & TransferDetails & Refundable & { readonly receiver?: Receiver })
  | ({ readonly kind: 'CRYPTO_DEPOSIT' | 'CRYPTO_WITHDRAWAL' } & TransferDetails)
  | ({ readonly kind: 'CONVERSION' } & Converted);

/** Details of a transfer. The destination address and the hash are present only if the transaction is complete. */
export type TransferDetails = {
  readonly network: string;
  readonly asset: string;
  readonly amount: DecimalText;
  readonly sourceAddress?: string;
  readonly destinationAddress?: string;
  readonly txHash?: string;
  readonly failureReason?: string;
};
type Sender = { readonly senderClabe?: string; readonly senderName?: string; readonly receiverClabe?: string };
export type Receiver = { readonly type: string; readonly clabe?: string; readonly externalFiatId?: string };
export type Refundable = {
  readonly method: 'SPEI' | 'PLATFORM_TRANSFER';
  readonly refunded: boolean;
  readonly error?: { readonly code: string; readonly message: string };
  /**
   * Refund of the transaction; absent until the refund is triggered. The refund's `status` is independent of the
   * transaction's `status`.
   */
  readonly refund?: { readonly status: TransactionStatus; readonly steps: readonly RefundStep[] };
};
export type RefundStep = {
  readonly step: string;
  readonly status: 'IN_PROGRESS' | 'COMPLETE' | 'FAILED';
  /** Id of the step; absent while the step is in progress, and after some failed steps. */
  readonly id?: string;
};
type Converted = {
  readonly quoteId: string;
  readonly from: { readonly asset: string; readonly amount: DecimalText };
  readonly to: { readonly asset: string; readonly amount: DecimalText };
  readonly rate: DecimalText;
};
