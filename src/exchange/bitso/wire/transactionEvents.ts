/**
 * Reader of deliveries to a callback URL: issuances, redemptions, crypto deposits and withdrawals, conversions
 * (rfq-and-webhooks 2.5, 2.6).
 */
import {
  ambiguityOf,
  TRANSACTION_KINDS,
  TRANSACTION_STATUSES,
  type Delivery,
  type TransferDetails,
  type Receiver,
  type Refundable,
  type RefundStep,
  type TransactionEvent,
  type TransactionParticulars,
} from '../../../core/index.ts';
import { parseExactJson } from '../../wire/json.ts';
import * as wire from '../../wire/wire.ts';
import type { Row } from '../../wire/wire.ts';

/** Reads a delivery. The receiver must answer the delivery within five seconds, before it reads the content. */
export function delivery(body: string): Delivery {
  try {
    const of = wire.row(parseExactJson(body), 'delivery');
    const ambiguity = ambiguityOf(body);
    if (ambiguity !== null) return { kind: 'unreadable', reason: ambiguity };
    if (wire.filled(of, 'event').toUpperCase() !== 'TRANSACTION') return { kind: 'other' };
    return { kind: 'transaction', event: transaction(wire.row(of['payload'])) };
  } catch (problem) {
    // A hostile body can nest deeper than the parser's stack.
    if (problem instanceof wire.WireFault || problem instanceof SyntaxError || problem instanceof RangeError)
      return { kind: 'unreadable', reason: problem.message };
    throw problem;
  }
}

function transaction(of: Row): TransactionEvent {
  const kind = wire.oneOf(of, 'type', TRANSACTION_KINDS);
  const name = kind.toLowerCase();
  return {
    id: wire.filled(of, 'id'),
    status: wire.oneOf(of, 'status', TRANSACTION_STATUSES),
    createdAt: wire.time(of, 'created_at'),
    updatedAt: wire.time(of, 'updated_at'),
    ...wire.present({ externalRef: wire.optional(of, 'external_ref', wire.text) }),
    ...particulars(kind, wire.row(of[name], name)),
  };
}

function particulars(kind: TransactionEvent['kind'], of: Row): TransactionParticulars {
  switch (kind) {
    case 'ISSUANCE': {
      const sender = wire.present({
        senderClabe: wire.optional(of, 'deposit_sender_clabe', wire.text),
        senderName: wire.optional(of, 'deposit_sender_name', wire.text),
        receiverClabe: wire.optional(of, 'deposit_receiver_clabe', wire.text),
        externalFiatId: wire.optional(of, 'external_fiat_id', wire.text),
      });
      return { kind, ...moved(of), ...refundable(of), ...sender };
    }
    case 'REDEMPTION': {
      const to = wire.present({ receiver: wire.optional(of, 'receiver_account', receiver) });
      return { kind, ...moved(of), ...refundable(of), ...to };
    }
    case 'CRYPTO_DEPOSIT':
    case 'CRYPTO_WITHDRAWAL':
      return { kind, ...moved(of) };
    case 'CONVERSION':
      return {
        kind,
        quoteId: wire.filled(of, 'quote_id'),
        from: { asset: wire.filled(of, 'asset_from'), amount: wire.decimal(of, 'amount_from') },
        to: { asset: wire.filled(of, 'asset_to'), amount: wire.decimal(of, 'amount_to') },
        rate: wire.decimal(of, 'exchange_rate'),
      };
  }
}

const moved = (of: Row): TransferDetails => ({
  network: wire.filled(of, 'network'),
  asset: wire.filled(of, 'asset'),
  amount: wire.decimal(of, 'amount'),
  ...wire.present({
    sourceAddress: wire.optional(of, 'crypto_source_address', wire.text),
    destinationAddress: wire.optional(of, 'crypto_destination_address', wire.text),
    txHash: wire.optional(of, 'crypto_tx_hash', wire.text),
    failureReason: wire.optional(of, 'failure_reason', wire.text),
  }),
});

function refundable(of: Row): Refundable {
  const status = wire.optional(of, 'refund_status', (from, field) => wire.oneOf(from, field, TRANSACTION_STATUSES));
  const steps = wire.optional(of, 'refund_steps', (from, field) => wire.rows(from[field], refundStep, [], field)) ?? [];
  return {
    method: wire.oneOf(of, 'method', ['SPEI', 'PLATFORM_TRANSFER']),
    refunded: wire.optional(of, 'refunded', wire.flag) ?? false,
    ...wire.present({
      error: wire.optional(of, 'error', failure),
      refund: status === undefined ? undefined : { status, steps },
    }),
  };
}

function refundStep(element: unknown): RefundStep {
  const of = wire.row(element, 'refund_steps');
  return {
    step: wire.filled(of, 'step'),
    status: wire.oneOf(of, 'status', ['IN_PROGRESS', 'COMPLETE', 'FAILED']),
    ...wire.present({ id: wire.optional(of, 'id', wire.text) }),
  };
}

function failure(from: Row, field: string): NonNullable<Refundable['error']> {
  const of = wire.row(from[field], field);
  return { code: wire.text(of, 'code'), message: wire.text(of, 'message') };
}

function receiver(from: Row, field: string): Receiver {
  const of = wire.row(from[field], field);
  const bank = wire.optional(of, 'mexican_bank_account', (at, name) => wire.row(at[name], name)) ?? {};
  return {
    type: wire.filled(of, 'type'),
    ...wire.present({
      clabe: wire.optional(bank, 'clabe', wire.text),
      externalFiatId: wire.optional(bank, 'external_fiat_id', wire.text),
    }),
  };
}
