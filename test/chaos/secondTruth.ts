/** The account on the second exchange, as its operator and its own key see it; shares no code with the bot. */
import { createHmac } from 'node:crypto';
import { operator, truthOf, type Account, type Truth } from './truth.ts';

/** Fields that `puntas exchange` prints of the second exchange. */
export type SecondFace = {
  readonly elsewhere: string;
  readonly elsewhereStream: string;
  readonly elsewhereKey: string;
  readonly elsewhereSecret: string;
  readonly elsewhereBook: string;
  readonly operatorToken: string;
};

export type SecondTrade = {
  readonly id: number;
  readonly orderId: number;
  readonly qty: string;
  readonly quoteQty: string;
  readonly commission: string;
  readonly commissionAsset: string;
  readonly time: number;
  readonly isBuyer: boolean;
};
export type SecondOrder = { readonly orderId: number; readonly executedQty: string; readonly status: string };

/** As many trades as a page can have. */
const PAGE = 1_000;

export class SecondObserver {
  readonly #face: SecondFace;
  readonly #symbol: string;

  constructor(face: SecondFace) {
    this.#face = face;
    this.#symbol = face.elsewhereBook.replace('_', '').toUpperCase();
  }

  /** Time of its clock, in ms. */
  async now(): Promise<number> {
    const answer = await fetch(`${this.#face.elsewhere}/api/v3/time`);
    return ((await answer.json()) as { serverTime: number }).serverTime;
  }

  set(switches: Record<string, unknown>): Promise<unknown> {
    return this.#operate('PATCH', 'switches', switches);
  }

  async truth(): Promise<Truth> {
    const { accounts } = (await this.#operate('GET', 'truth')) as { accounts: Account[] };
    return truthOf(accounts[0]!);
  }

  /** Every own trade, oldest first. */
  async trades(): Promise<SecondTrade[]> {
    const all: SecondTrade[] = [];
    for (;;) {
      const fromId = String((all.at(-1)?.id ?? -1) + 1);
      const page = (await this.#signed('myTrades', { limit: String(PAGE), fromId })) as SecondTrade[];
      all.push(...page);
      if (page.length < PAGE) return all;
    }
  }

  /** The order of a client id; null when the exchange has none. */
  async order(clientId: string): Promise<SecondOrder | null> {
    const answer = (await this.#signed('order', { origClientOrderId: clientId })) as SecondOrder & { code?: number };
    if (answer.code === -2013) return null;
    if (answer.code !== undefined) throw new Error(`order ${clientId}: ${JSON.stringify(answer)}`);
    return answer;
  }

  async #signed(path: string, params: Readonly<Record<string, string>>): Promise<unknown> {
    const fields = { ...params, symbol: this.#symbol, recvWindow: '60000', timestamp: String(await this.now()) };
    const query = new URLSearchParams(fields).toString();
    const signature = createHmac('sha256', this.#face.elsewhereSecret).update(query).digest('hex');
    const reply = await fetch(`${this.#face.elsewhere}/api/v3/${path}?${query}&signature=${signature}`, {
      headers: { 'x-mbx-apikey': this.#face.elsewhereKey },
    });
    return reply.json();
  }

  #operate(method: string, path: string, fields?: unknown): Promise<unknown> {
    const { elsewhere, operatorToken } = this.#face;
    return operator({ operator: `${elsewhere}/operator`, operatorToken }, method, path, fields);
  }
}
