/** The exchange as its operator sees it, and signed reads with a key of its own; shares no code with the bot. */
import { createHmac } from 'node:crypto';

export type Face = {
  readonly url: string;
  readonly key: string;
  readonly secret: string;
  readonly operator: string;
  readonly operatorToken: string;
};

export type LiveOrder = {
  readonly origin_id: string | null;
  readonly status: string;
  readonly book: string;
  readonly side: string;
  readonly unfilled: string;
};
export type Truth = {
  readonly live: readonly LiveOrder[];
  /** Number of the account's trades so far. */
  readonly trades: number;
  /** By currency, as the exchange writes them. */
  readonly totals: ReadonlyMap<string, string>;
};
export type Trade = {
  readonly tid: string;
  readonly book: string;
  readonly side: string;
  readonly major: string;
  readonly minor: string;
  readonly fees_amount: string;
  readonly fees_currency: string;
  readonly origin_id?: string;
  readonly oid: string;
  readonly created_at: string;
};

export type Account = {
  id: string;
  balances: { currency: string; total: string }[];
  live_orders: LiveOrder[];
  trades: number;
};

export class Observer {
  readonly #face: Face;
  readonly #key: { key: string; secret: string };
  readonly #account: string;
  #nonce = BigInt(Date.now()) * 1_000_000n;

  private constructor(face: Face, account: string, key: { key: string; secret: string }) {
    this.#face = face;
    this.#account = account;
    this.#key = key;
  }

  /** Of the bot's account: the only one, or the first. */
  static async of(face: Face): Promise<Observer> {
    const { accounts } = (await operator(face, 'GET', 'truth')) as { accounts: Account[] };
    const { id } = accounts[0]!;
    return new Observer(
      face,
      id,
      (await operator(face, 'POST', `accounts/${id}/keys`)) as { key: string; secret: string },
    );
  }

  /** Another key of the account, for a process of its own. */
  async newKey(): Promise<{ key: string; secret: string }> {
    return (await operator(this.#face, 'POST', `accounts/${this.#account}/keys`)) as { key: string; secret: string };
  }

  set(switches: Record<string, unknown>): Promise<unknown> {
    return operator(this.#face, 'PATCH', 'switches', switches);
  }

  async truth(): Promise<Truth> {
    const { accounts } = (await operator(this.#face, 'GET', 'truth')) as { accounts: Account[] };
    return truthOf(accounts.find(({ id }) => id === this.#account)!);
  }

  /** Every own trade of the account, oldest first. */
  async trades(): Promise<Trade[]> {
    const all: Trade[] = [];
    for (;;) {
      const last = all.at(-1)?.tid;
      const page = (await this.#signed(
        `/api/v3/user_trades?sort=asc&limit=100${last === undefined ? '' : `&marker=${last}`}`,
      )) as Trade[];
      all.push(...page.sort((a, b) => (BigInt(a.tid) < BigInt(b.tid) ? -1 : 1)));
      if (page.length < 100) return all;
    }
  }

  /** The trades of one order, with times in ms. */
  async tradesOf(oid: string): Promise<Trade[]> {
    return (await this.#signed(`/api/v3/order_trades/${oid}`)) as Trade[];
  }

  /** Whether the exchange ever had an order of this origin id and still lists it. */
  async knows(id: string): Promise<boolean> {
    return ((await this.#signed(`/api/v3/orders?origin_ids=${id}`)) as unknown[]).length > 0;
  }

  async #signed(target: string): Promise<unknown> {
    const nonce = String(++this.#nonce);
    const signature = createHmac('sha256', this.#key.secret).update(`${nonce}GET${target}`).digest('hex');
    const reply = await fetch(this.#face.url + target, {
      headers: { authorization: `Bitso ${this.#key.key}:${nonce}:${signature}` },
    });
    const body = (await reply.json()) as { success: boolean; payload?: unknown };
    if (!body.success) throw new Error(`${target}: ${JSON.stringify(body)}`);
    return body.payload;
  }
}

export const truthOf = ({ balances, live_orders: live, trades }: Account): Truth => ({
  ...{ live, trades },
  totals: new Map(balances.map(({ currency, total }) => [currency, total])),
});

export async function operator(
  face: Pick<Face, 'operator' | 'operatorToken'>,
  method: string,
  path: string,
  fields?: unknown,
): Promise<unknown> {
  const reply = await fetch(`${face.operator}/${path}`, {
    method,
    headers: { authorization: `Bearer ${face.operatorToken}` },
    ...(fields === undefined ? {} : { body: JSON.stringify(fields) }),
  });
  if (!reply.ok) throw new Error(`operator ${path}: ${reply.status} ${await reply.text()}`);
  return reply.json();
}

/** Sum of decimal texts with up to 18 decimals, exactly. */
export const units = (text: string): bigint => {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const sum = BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, '0'));
  return text.startsWith('-') ? -sum : sum;
};
