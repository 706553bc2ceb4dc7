/** Operator's calls that start a deposit, withdrawal, issuance or redemption. */
import { accountOf, OperatorFault, type OperatorRequest, type OperatorFields } from './operatorFields.ts';
import { transactionPayload } from '../desks/transactionPayload.ts';
import {
  REFUND_STEPS,
  type Details,
  type Failure,
  type TransactionPlan,
  type RefundPlan,
} from '../desks/transactions.ts';

const OUTCOMES = ['COMPLETE', 'FAILED'] as const;
const METHODS = ['SPEI', 'PLATFORM_TRANSFER'] as const;

/**
 * Starts a crypto transfer and returns its event payload (rfq 2.5). Throws an `OperatorFault`: 400 on an invalid field
 * or insufficient balance, 404 on an unknown account.
 */
export function startCrypto(ask: OperatorRequest, kind: 'CRYPTO_DEPOSIT' | 'CRYPTO_WITHDRAWAL'): unknown {
  const { fields, exchange } = ask;
  const asset = fields.text('asset')?.toLowerCase();
  if (asset === undefined) throw new OperatorFault('asset: expected a ticker like btc');
  return start(ask, {
    kind,
    network: fields.text('network') ?? 'ARBITRUM',
    asset,
    sum: fields.amount('amount'),
    from: fields.text('source_address') ?? exchange.transactions.address(),
    to: fields.text('destination_address') ?? exchange.transactions.address(),
    hash: fields.text('tx_hash') ?? exchange.transactions.hash(),
  });
}

/**
 * Starts an issuance, which credits the fiat asset, because the embedded exchange does not trade the stablecoin.
 * Returns and throws like `startCrypto`.
 */
export function startIssuance(ask: OperatorRequest): unknown {
  const { fields, exchange } = ask;
  const method = fields.oneOf('method', METHODS, 'SPEI');
  const spei = method === 'SPEI';
  return start(ask, {
    kind: 'ISSUANCE',
    network: fields.text('network') ?? 'ARBITRUM',
    asset: fields.text('asset')?.toLowerCase() ?? fiatOf(method),
    sum: fields.amount('amount'),
    method,
    bank: spei
      ? {
          senderClabe: fields.text('sender_clabe') ?? CLABE,
          senderName: fields.text('sender_name') ?? 'Sender of the embedded exchange',
          receiverClabe: fields.text('receiver_clabe') ?? CLABE,
        }
      : null,
    fiatId: spei ? (fields.text('external_fiat_id') ?? exchange.transactions.reference()) : null,
    from: fields.text('source_address') ?? exchange.transactions.address(),
    to: fields.text('destination_address') ?? exchange.transactions.address(),
    hash: fields.text('tx_hash') ?? exchange.transactions.hash(),
  });
}

/**
 * Starts a redemption and immediately debits the amount. Default asset: mxn for SPEI, brl for a platform transfer.
 * Returns and throws like `startCrypto`.
 */
export function startRedemption(ask: OperatorRequest): unknown {
  const { fields } = ask;
  const method = fields.oneOf('method', METHODS, 'SPEI');
  const spei = method === 'SPEI';
  return start(ask, {
    kind: 'REDEMPTION',
    network: fields.text('network') ?? 'ARBITRUM',
    asset: fields.text('asset')?.toLowerCase() ?? fiatOf(method),
    sum: fields.amount('amount'),
    method,
    clabe: spei ? (fields.text('clabe') ?? CLABE) : null,
    fiatId: spei ? (fields.text('external_fiat_id') ?? null) : null,
  });
}

/**
 * Parses a refund plan: the given steps (rfq 2.6) in their order, by default all steps of the method. Throws an
 * `OperatorFault` of 400 on unknown steps, and on a kind of transaction without refunds.
 */
export function refundPlanOf(details: Details, fields: OperatorFields): RefundPlan {
  const outcome = fields.oneOf('outcome', OUTCOMES, 'COMPLETE');
  if (details.kind !== 'ISSUANCE' && details.kind !== 'REDEMPTION')
    throw new OperatorFault('only issuances and redemptions can be refunded');
  const known: readonly string[] = REFUND_STEPS[details.kind];
  const usual = details.method === 'SPEI' ? known.filter(step => step !== 'TOKEN_DEPOSIT') : known.slice(0, 1);
  const steps = fields.words('steps') ?? usual;
  if (steps.length === 0 || steps.length > 10 || !steps.every(step => known.includes(step)))
    throw new OperatorFault(`steps: expected a list of 1 to 10 steps, each ${known.join(' or ')}`);
  return { steps, outcome };
}

/** Invented CLABE of valid length. */
const CLABE = '646180000000000001';

const fiatOf = (method: (typeof METHODS)[number]): string => (method === 'SPEI' ? 'mxn' : 'brl');

function start({ exchange, fields }: OperatorRequest, details: Exclude<Details, { kind: 'CONVERSION' }>): unknown {
  const account = accountOf(exchange, fields.text('account'));
  const refund = fields.part('refund');
  const plan: TransactionPlan = {
    failure: fields.oneOf('outcome', OUTCOMES, 'COMPLETE') === 'FAILED' ? failureOf(details, fields) : null,
    refund: refund ? refundPlanOf(details, refund) : null,
  };
  const transaction = exchange.transactions.start(account, details, plan, fields.text('external_ref') ?? null);
  if (!transaction) throw new OperatorFault(`account ${account.id} does not have enough ${details.asset} available`);
  return transactionPayload(transaction, 'milliseconds');
}

const failureOf = ({ kind }: Details, fields: OperatorFields): Failure => ({
  reason: fields.text('failure_reason') ?? 'The transaction failed',
  code:
    fields.text('error_code') ??
    (kind === 'ISSUANCE' ? 'insufficient_deposit_amount_for_issuance' : 'transaction_failed'),
});
