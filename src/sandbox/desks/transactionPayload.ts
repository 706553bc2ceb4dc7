/** Payload of a transaction event, with the fields of its type and state (rfq 2.5, 2.6). */
import type { Millis } from '../../core/index.ts';
import { deskAmount, rateText, timeSeconds } from './rfqCodes.ts';
import type { Details, RefundProgress, Transaction } from './transactions.ts';

type Json = Record<string, unknown>;

/**
 * Returns the payload, ready for JSON: amounts and rate as decimal text, assets in upper case, times like
 * 2026-01-02T03:04:05.678Z or without the fraction.
 */
export function transactionPayload(transaction: Transaction, form: 'milliseconds' | 'seconds'): Json {
  const { id, details, status, createdAt, updatedAt, externalRef } = transaction;
  const time = (at: Millis) => (form === 'seconds' ? timeSeconds(at) : new Date(at).toISOString());
  return {
    id,
    type: details.kind,
    status,
    created_at: time(createdAt),
    updated_at: time(updatedAt),
    ...(externalRef !== null && { external_ref: externalRef }),
    [details.kind.toLowerCase()]: particulars(transaction, details),
  };
}

function particulars(transaction: Transaction, details: Details): Json {
  switch (details.kind) {
    case 'CRYPTO_DEPOSIT':
    case 'CRYPTO_WITHDRAWAL':
      return {
        ...moved(details),
        crypto_source_address: details.from,
        crypto_destination_address: details.to,
        ...(transaction.status === 'COMPLETE' && { crypto_tx_hash: details.hash }),
        ...(transaction.failure && { failure_reason: transaction.failure.reason }),
      };
    case 'ISSUANCE':
      return {
        ...moved(details),
        method: details.method,
        ...(details.bank && {
          deposit_sender_clabe: details.bank.senderClabe,
          deposit_sender_name: details.bank.senderName,
          deposit_receiver_clabe: details.bank.receiverClabe,
        }),
        refunded: transaction.refunded,
        crypto_source_address: details.from,
        ...(transaction.status === 'COMPLETE' && {
          crypto_destination_address: details.to,
          crypto_tx_hash: details.hash,
        }),
        external_fiat_id: details.fiatId,
        ...failed(transaction),
        ...refund(transaction),
      };
    case 'REDEMPTION':
      return {
        ...moved(details),
        method: details.method,
        refunded: transaction.refunded,
        receiver_account:
          details.method === 'SPEI'
            ? {
                type: 'MEXICAN_BANK_ACCOUNT',
                mexican_bank_account: { clabe: details.clabe, external_fiat_id: details.fiatId },
              }
            : { type: 'PLATFORM_TRANSFER' },
        ...failed(transaction),
        ...refund(transaction),
      };
    case 'CONVERSION': {
      const { quote } = details.conversion;
      return {
        quote_id: quote.id,
        amount_from: deskAmount(quote.sourceSum),
        amount_to: deskAmount(quote.targetSum),
        asset_from: quote.pair.source.toUpperCase(),
        asset_to: quote.pair.target.toUpperCase(),
        exchange_rate: rateText(quote.rate),
      };
    }
  }
}

const moved = ({ network, sum, asset }: Exclude<Details, { kind: 'CONVERSION' }>): Json => ({
  network,
  amount: deskAmount(sum),
  asset: asset.toUpperCase(),
});

const failed = ({ failure }: Transaction): Json =>
  failure ? { failure_reason: failure.reason, error: { code: failure.code, message: failure.reason } } : {};

const refund = ({ refund: of }: Transaction): Json =>
  of ? { refund_status: of.status, refund_steps: of.steps.map(stepOf) } : {};

const stepOf = ({ step, status, id }: RefundProgress): Json => ({ step, status, ...(id !== null && { id }) });
