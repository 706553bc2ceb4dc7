/**
 * Operator interface of the embedded exchange: creates transactions, changes switches and reads the true state. Local
 * only, with a token.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isDecimalText, type WireReply, type WireRequest } from '../../core/index.ts';
import type { EmbeddedExchange } from '../exchange.ts';
import { accountOf, fieldsIn, OperatorFault, type OperatorRequest } from './operatorFields.ts';
import { refundPlanOf, startCrypto, startIssuance, startRedemption } from './operatorTransactions.ts';
import { matcherOf, queryOf, segmentsOf } from '../wire/paths.ts';
import type { Respond } from '../http/rest.ts';
import { transactionPayload } from '../desks/transactionPayload.ts';
import type { Transaction } from '../desks/transactions.ts';
import { truthText } from '../venue/truthText.ts';
import { reply } from '../wire/wire.ts';

/** Row of the operator's table; `takes` and `does` are texts for the page that lists the calls. */
export type OperatorRoute<E = EmbeddedExchange> = {
  readonly method: WireRequest['method'];
  readonly pattern: string;
  readonly takes: string;
  readonly does: string;
  readonly handle: (ask: OperatorRequest<E>) => unknown;
};

/** Returns a row of an operator's table, with its path below /operator. */
export const operatorRoute = <E = EmbeddedExchange>(
  method: OperatorRoute['method'],
  pattern: string,
  takes: string,
  does: string,
  handle: OperatorRoute<E>['handle'],
): OperatorRoute<E> => ({ method, pattern: `/operator/${pattern}`, takes, does, handle });

const CRYPTO =
  'asset, amount; optional: account, network, outcome (COMPLETE or FAILED), failure_reason, source_address, destination_address, tx_hash, external_ref';
const REFUND = 'refund: {steps, outcome}';

export const OPERATOR_ROUTES: readonly OperatorRoute[] = [
  operatorRoute('POST', 'deposits', CRYPTO, 'Starts a crypto deposit.', ask => startCrypto(ask, 'CRYPTO_DEPOSIT')),
  operatorRoute('POST', 'withdrawals', CRYPTO, 'Starts a crypto withdrawal.', ask =>
    startCrypto(ask, 'CRYPTO_WITHDRAWAL'),
  ),
  operatorRoute(
    'POST',
    'issuances',
    `amount; optional: account, method (SPEI or PLATFORM_TRANSFER), asset, network, outcome, failure_reason, error_code, sender_clabe, sender_name, receiver_clabe, external_fiat_id, source_address, destination_address, tx_hash, external_ref, ${REFUND}`,
    'Starts an issuance.',
    startIssuance,
  ),
  operatorRoute(
    'POST',
    'redemptions',
    `amount; optional: account, method, asset, network, outcome, failure_reason, error_code, clabe, external_fiat_id, external_ref, ${REFUND}`,
    'Starts a redemption.',
    startRedemption,
  ),
  operatorRoute('GET', 'transactions', 'query: account', 'Lists transactions.', transactions),
  operatorRoute('GET', 'transactions/:id', '', 'Shows one transaction.', ask => payloadOf(transactionOf(ask))),
  operatorRoute(
    'POST',
    'transactions/:id/refund',
    'steps, outcome',
    'Refunds a finished issuance or redemption.',
    refund,
  ),
  operatorRoute(
    'POST',
    'accounts',
    'balances: {currency: amount}',
    'Opens an account; returns key and secret.',
    openAccount,
  ),
  operatorRoute('POST', 'accounts/:id/keys', '', 'Adds an API key; returns key and secret.', addKey),
  operatorRoute(
    'DELETE',
    'accounts/:id/keys/:key',
    '',
    'Removes an API key; requests with the key then fail with 0201.',
    removeKey,
  ),
  operatorRoute('PATCH', 'accounts/:id', 'rfq, trading (true or false)', 'Sets permissions.', changeAccount),
  operatorRoute(
    'PATCH',
    'books/:book',
    'tick_size (a multiple of the original), minimum_amount, maximum_amount, minimum_price, maximum_price, minimum_value, maximum_value, maker and taker (fractions); or listed: false',
    'Changes rules or fees; delisting a book cancels its orders.',
    changeBook,
  ),
  operatorRoute('POST', 'quotes/:id/cancel', '', 'Cancels an open RFQ quote.', cancelQuote),
  operatorRoute('GET', 'switches', '', 'Shows all switches.', ({ exchange }) => exchange.venue.switches),
  operatorRoute('PATCH', 'switches', 'switches by name', 'Changes switches; returns all switches.', changeSwitches),
  operatorRoute('GET', 'truth', '', 'Shows internal balances and orders, and webhook delivery counts.', truth),
  operatorRoute('GET', 'webhooks', '', 'Shows webhooks and delivery counts.', webhooks),
  operatorRoute('DELETE', 'webhooks/:id', '', 'Removes a webhook and its queued deliveries.', removeWebhook),
  operatorRoute('POST', 'webhooks/keys', '', 'Rotates the signing key; returns public keys.', rotate),
];

/** Adds the operator interface to an exchange, for paths below /operator; passes all other requests on. */
export function withOperator(exchange: EmbeddedExchange, token: string): Respond {
  const operate = operatorAnswers(OPERATOR_ROUTES, exchange, token);
  return (request, peer) => operate(request, peer) ?? exchange.respond(request, peer);
}

/**
 * Returns the operator interface of an exchange. The interface answers `null` for paths outside /operator. Throws a
 * RangeError for a short token.
 */
export function operatorAnswers<E>(
  routes: readonly OperatorRoute<E>[],
  exchange: E,
  token: string,
): (request: WireRequest, peer: string) => WireReply | null {
  if (token.length < 16) throw new RangeError('the operator token needs 16 characters or more');
  const match = matcherOf(routes);
  return (request, peer) => {
    const [path = '', query = ''] = request.target.split('?', 2);
    if (segmentsOf(path)[0] !== 'operator') return null;
    // Other machines get 404, as if the interface did not exist.
    if (!isLoopback(peer)) return reply(404, '');
    if (!holds(request, token)) return answer(401, { error: 'the operator token is missing or wrong' });
    const found = match(request.method, segmentsOf(path));
    if (found === 'unknown path')
      return answer(404, { error: 'unknown path; docs/embedded-exchange.md lists the operator calls' });
    if (found === 'unknown method')
      return answer(405, { error: `this operator call does not support ${request.method}` });
    try {
      const fields = fieldsIn(request.body);
      return answer(200, found.row.handle({ exchange, fields, path: found.path, query: queryOf(query) }));
    } catch (problem) {
      if (problem instanceof OperatorFault) return answer(problem.status, { error: problem.message });
      // Switches and amounts report invalid values as a RangeError.
      if (problem instanceof RangeError) return answer(400, { error: problem.message });
      throw problem;
    }
  };
}

const answer = (status: number, value: unknown): WireReply => reply(status, JSON.stringify(value));

const isLoopback = (peer: string): boolean => peer === '::1' || /^127\./.test(peer);

function holds({ headers }: WireRequest, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(headers['authorization'] ?? ''), digest(`Bearer ${token}`));
}

function transactions({ exchange, query }: OperatorRequest): unknown {
  const account = query.get('account');
  const listed = exchange.transactions.all().filter(each => account === undefined || each.account.id === account);
  return { transactions: listed.map(payloadOf) };
}

const payloadOf = (transaction: Transaction) => transactionPayload(transaction, 'milliseconds');

function transactionOf({ exchange, path }: OperatorRequest): Transaction {
  const transaction = exchange.transactions.find(path['id']!);
  if (!transaction) throw new OperatorFault('no transaction has this id', 404);
  return transaction;
}

function refund(ask: OperatorRequest): unknown {
  const transaction = transactionOf(ask);
  const problem = ask.exchange.transactions.refund(transaction, refundPlanOf(transaction.details, ask.fields));
  if (problem !== null) throw new OperatorFault(problem);
  return payloadOf(transaction);
}

function openAccount({ exchange, fields }: OperatorRequest): unknown {
  return exchange.openAccount({ balances: fields.amounts('balances') });
}

function addKey({ exchange, path }: OperatorRequest): unknown {
  const { id } = accountOf(exchange, path['id']);
  return { id, ...exchange.venue.addKey(id) };
}

function removeKey({ exchange, path }: OperatorRequest): unknown {
  const { id } = accountOf(exchange, path['id']);
  const key = path['key']!;
  if (exchange.venue.keys.get(key)?.account.id !== id) throw new OperatorFault(`account ${id} has no key ${key}`, 404);
  exchange.venue.keys.delete(key);
  return { id, key };
}

function changeAccount({ exchange, fields, path }: OperatorRequest): unknown {
  const account = accountOf(exchange, path['id']);
  const [rfq, trading] = [fields.flag('rfq'), fields.flag('trading')];
  if (rfq !== undefined) exchange.rfq.allow(account, rfq);
  if (trading !== undefined) account.trading = trading;
  return { id: account.id, rfq: exchange.rfq.mayUse(account), trading: account.trading };
}

function changeBook({ exchange, fields, path }: OperatorRequest): unknown {
  const { venue } = exchange;
  const name = path['book']!;
  if (!venue.books.has(name)) throw new OperatorFault(`no book ${name}`, 404);
  if (fields.flag('listed') === false) {
    venue.closeBook(name);
    return { book: name, listed: false };
  }
  const rules: Record<string, string> = {};
  for (const [field, key] of RULE_FIELDS) {
    const text = fields.text(field);
    if (text !== undefined) rules[key] = text;
  }
  const [maker, taker] = [fields.text('maker'), fields.text('taker')];
  if ((maker === undefined) !== (taker === undefined))
    throw new OperatorFault('maker and taker: expected both or neither');
  for (const [field, rate] of [
    ['maker', maker],
    ['taker', taker],
  ] as const)
    if (rate !== undefined && !(isDecimalText(rate) && Number(rate) < 1))
      throw new OperatorFault(`${field}: expected a fraction below 1 as text, like 0.005`);
  const book = venue.changeBook(name, rules, maker === undefined || taker === undefined ? undefined : { maker, taker });
  return { ...book.rules, tiers: book.fees.tiers };
}

const RULE_FIELDS = [
  ['tick_size', 'tickSize'],
  ['minimum_amount', 'minimumAmount'],
  ['maximum_amount', 'maximumAmount'],
  ['minimum_price', 'minimumPrice'],
  ['maximum_price', 'maximumPrice'],
  ['minimum_value', 'minimumValue'],
  ['maximum_value', 'maximumValue'],
] as const;

function cancelQuote({ exchange, path }: OperatorRequest): unknown {
  if (!exchange.rfq.cancel(path['id']!)) throw new OperatorFault('no open quote has this id', 404);
  return { id: path['id'] };
}

function changeSwitches({ exchange, fields }: OperatorRequest): unknown {
  exchange.venue.set(fields.all);
  return exchange.venue.switches;
}

function truth({ exchange }: OperatorRequest): unknown {
  return { ...truthText(exchange.truth()), deliveries: exchange.webhooks.counts };
}

function webhooks({ exchange }: OperatorRequest): unknown {
  const list = exchange.webhooks.registrations();
  return {
    webhooks: list.map(({ id, callbackUrl, account }) => ({ id, callback_url: callbackUrl, account: account.id })),
    deliveries: exchange.webhooks.counts,
  };
}

function removeWebhook({ exchange, path }: OperatorRequest): unknown {
  if (!exchange.webhooks.remove(Number(path['id']))) throw new OperatorFault('no webhook has this id', 404);
  return { id: Number(path['id']) };
}

function rotate({ exchange }: OperatorRequest): unknown {
  exchange.webhooks.keys.rotate();
  return exchange.webhooks.keys.list();
}
