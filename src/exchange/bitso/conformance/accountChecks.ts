/** Checks of the private calls that read: authentication, account, balances, fees, orders, trades and transfers. */
import { counted, moneyOf, type BookFee, type NonceSource } from '../../../core/index.ts';
import type { Endpoints } from '../rest/endpoints.ts';
import { judged, rejectedWith, valueIn, type Checks } from './checks.ts';

/**
 * Factories of clients for the same account, but with a wrong secret or with other nonces. The caller closes the
 * clients.
 */
export type OtherClients = {
  readonly withWrongSecret: () => Endpoints;
  readonly withNonces: (nonces: (source: NonceSource) => NonceSource) => Endpoints;
};

const BAD_SIGNATURE = ['0215', '0201'];
const BAD_NONCE = ['0201', '0207'];

/** Checks that the exchange accepts only a valid signature, and each nonce once, in any order. */
export async function authenticationChecks(others: OtherClients, checks: Checks): Promise<void> {
  await checks.rejections([
    [
      ...(['wrong signature', 'rest-api 5, 7', 'rejected'] as const),
      BAD_SIGNATURE,
      () => closing(others.withWrongSecret(), client => client.balances()),
    ],
  ]);
  await checks.check(['repeated nonce', 'public-facts 2.3', `rejected: ${BAD_NONCE.join(' or ')}`], () =>
    closing(others.withNonces(constant), async client => {
      valueIn(await client.balances());
      return rejectedWith(BAD_NONCE, await client.balances());
    }),
  );
  await checks.check(
    ['nonces out of order', 'public-facts 2.3', 'accepted, because nonces only need to be unique'],
    () =>
      closing(others.withNonces(falling), async client => {
        valueIn(await client.balances());
        valueIn(await client.balances());
        return judged('both accepted', true);
      }),
  );
}

async function closing<T>(client: Endpoints, use: (client: Endpoints) => Promise<T>): Promise<T> {
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Returns a source that repeats its first nonce. */
function constant(source: NonceSource): NonceSource {
  const nonce = source.next();
  return { next: () => nonce, last: () => BigInt(nonce), ordered: false };
}

/** Returns a source in which each nonce is lower than the one before it. */
function falling(source: NonceSource): NonceSource {
  let nonce = BigInt(source.next());
  return { next: () => String(nonce--), last: () => nonce, ordered: false };
}

/** Checks the calls that read the account. Returns the fees of the book; `null` if they are unknown. */
export async function accountChecks(client: Endpoints, book: string, checks: Checks): Promise<BookFee | null> {
  let fee: BookFee | null = null;
  const [major, minor] = book.split('_');
  await checks.check(['account status', 'rest-api 4.5', 'a client id and the status active'], async () => {
    const { status, clientId } = valueIn(await client.accountStatus());
    // The id is not printed, because a report may be shared.
    return judged(`status ${status}, client id of ${counted(clientId.length, 'character')}`, status === 'active');
  });
  await checks.check(
    ['balances', 'rest-api 4.9', 'available is exactly total minus locked, and both currencies are listed'],
    async () => {
      const balances = valueIn(await client.balances());
      const has = (name: string | undefined): boolean =>
        balances.some(({ currency }) => currency.toLowerCase() === name);
      const isExact = balances.every(
        ({ total, locked, available }) => moneyOf(total) - moneyOf(locked) === moneyOf(available),
      );
      return judged(counted(balances.length, 'currency', 'currencies'), isExact && has(major) && has(minor));
    },
  );
  await checks.check(
    ['fees', 'public-facts 9.1', 'the maker rate is at most the taker rate, and both are below 1'],
    async () => {
      fee = valueIn(await client.fees()).find(one => one.book === book) ?? null;
      if (fee === null) return judged(`no row of ${book}`, false);
      const { maker, taker } = fee;
      return judged(
        `maker ${maker}, taker ${taker}`,
        moneyOf(maker) <= moneyOf(taker) && moneyOf(taker) < moneyOf('1'),
      );
    },
  );
  await checks.check(
    ['own trades', 'rest-api 4.1', 'at most 25 trades, newest first; with limit 2, at most 2'],
    async () => {
      const tids = valueIn(await client.userTrades({ book })).map(({ tid }) => tid);
      const page = valueIn(await client.userTrades({ book, limit: 2 })).map(({ tid }) => tid);
      return judged(
        `${counted(tids.length, 'trade')}, a page of ${page.length}`,
        tids.length <= 25 && page.length <= 2 && isNewestFirst(tids) && isNewestFirst(page),
      );
    },
  );
  for (const { name } of client.lists)
    await checks.check(
      [
        `ledger: ${name}`,
        'public-facts 9.4',
        'a page has at most the requested number of lines, and each line has its balance changes',
      ],
      async () => {
        const lines = valueIn(await client.transferLines(name, { limit: 5 }));
        return judged(
          counted(lines.length, 'line'),
          lines.length <= 5 && lines.every(({ updates }) => updates.length > 0),
        );
      },
    );
  return fee;
}

/**
 * Whether trade ids never grow. Equal ids are allowed, because a trade of the account with itself has two rows with one
 * id.
 */
const isNewestFirst = (tids: readonly string[]): boolean =>
  tids.every((tid, i) => i === 0 || BigInt(tid) <= BigInt(tids[i - 1]!));
