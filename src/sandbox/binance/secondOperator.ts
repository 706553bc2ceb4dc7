/** Operator interface of the second exchange: accounts, money, fees, faults and its true state. */
import { isDecimalText } from '../../core/index.ts';
import type { ServeRequest } from '../http/server.ts';
import { operatorAnswers, operatorRoute, type OperatorRoute } from '../operator/operator.ts';
import { accountOf, OperatorFault, type OperatorRequest } from '../operator/operatorFields.ts';
import { truthText } from '../venue/truthText.ts';
import { text8 } from '../wire/wire.ts';
import type { SecondExchange } from './binanceExchange.ts';

type Ask = OperatorRequest<SecondExchange>;

export const SECOND_OPERATOR_ROUTES: readonly OperatorRoute<SecondExchange>[] = [
  operatorRoute('POST', 'accounts', 'balances: {currency: amount}', 'Opens an account; returns key and secret.', open),
  operatorRoute('PATCH', 'accounts/:id', 'trading (true or false)', 'Sets permissions.', permit),
  operatorRoute('POST', 'deposits', 'asset, amount; optional: account', 'Credits an account immediately.', ask =>
    move(ask, 1),
  ),
  operatorRoute('POST', 'withdrawals', 'asset, amount; optional: account', 'Debits an account immediately.', ask =>
    move(ask, -1),
  ),
  operatorRoute('PATCH', 'books/:book', 'maker, taker (fractions)', 'Changes the fees of a book.', changeFees),
  operatorRoute('GET', 'switches', '', 'Shows all switches.', ({ exchange }) => exchange.switches),
  operatorRoute(
    'PATCH',
    'switches',
    'switches by name',
    'Changes switches; returns all switches.',
    ({ exchange, fields }) => exchange.set(fields.all),
  ),
  operatorRoute('GET', 'truth', '', 'Shows internal balances, orders and trade counts.', ({ exchange }) =>
    truthText(exchange.truth()),
  ),
];

/** Adds the operator interface to the second exchange, for paths below /operator; passes all other requests on. */
export function withSecondOperator(exchange: SecondExchange, token: string): ServeRequest {
  const operate = operatorAnswers(SECOND_OPERATOR_ROUTES, exchange, token);
  return (request, peer, answer) => {
    const operated = operate(request, peer);
    if (operated) answer(operated);
    else exchange.serveRequest(request, peer, answer);
  };
}

function open({ exchange, fields }: Ask): unknown {
  return exchange.openAccount({ balances: fields.amounts('balances') });
}

function permit({ exchange, fields, path }: Ask): unknown {
  const account = accountOf(exchange, path['id']);
  const trading = fields.flag('trading');
  if (trading !== undefined) account.trading = trading;
  return { id: account.id, trading: account.trading };
}

function move({ exchange, fields }: Ask, sign: 1 | -1): unknown {
  const account = accountOf(exchange, fields.text('account'));
  const currency = fields.text('asset')?.toLowerCase();
  if (currency === undefined) throw new OperatorFault('asset: expected a currency');
  const sum = fields.amount('amount');
  if (sign > 0) exchange.venue.deposit(account, currency, sum);
  else if (!exchange.venue.withdraw(account, currency, sum))
    throw new OperatorFault(`amount: expected at most the available balance of ${text8(account.available(currency))}`);
  return { id: account.id, asset: currency, available: text8(account.available(currency)) };
}

function changeFees({ exchange, fields, path }: Ask): unknown {
  const book = path['book']!;
  if (!exchange.venue.books.has(book)) throw new OperatorFault(`no book ${book}`, 404);
  const rate = (name: string): string => {
    const text = fields.text(name);
    if (text === undefined || !isDecimalText(text) || !(Number(text) < 1))
      throw new OperatorFault(`${name}: expected a fraction below 1 as text, like 0.001`);
    return text;
  };
  const rates = { maker: rate('maker'), taker: rate('taker') };
  exchange.venue.changeBook(book, {}, rates);
  return { book, ...rates };
}
