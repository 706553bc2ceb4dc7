/** The bot's webhook inbox without its socket: the production desk, store and reader behind a door with a secret path, and everything that happens to deliveries on their way. */
import Database from 'libsql';
import { inboxHearing } from '../../../src/wiring/inbox.ts';
import { inboxReader } from '../../../src/wiring/inboxReader.ts';
import { delivery } from '../../../src/exchange/index.ts';
import { money } from '../../../src/core/index.ts';
import { DeliveryQueue } from '../../../src/live/inbox/deliveryQueue.ts';
import { inboxStoreIn, type InboxStore } from '../../../src/live/inbox/store.ts';
import type { DeliveryPort, EmbeddedExchange } from '../../../src/sandbox/index.ts';
import { heardLog } from '../../memoryLog.ts';
import type { Chance } from '../world/chance.ts';
import { Dead, type Life } from './life.ts';
import type { Store } from './store.ts';
import type { World } from '../world/world.ts';

/** Where a planted bug may sit. */
export type InboxSeams = {
  readonly store?: (store: InboxStore) => InboxStore;
  /** In the place of a look: what a careless author does with what was told. */
  readonly told?: (body: string) => void;
};

export type InboxOptions = {
  readonly world: World;
  readonly store: Store;
  readonly breaks: (law: string, what: string) => void;
  /** Every number that a delivery might want to change. */
  readonly numbers: () => string;
  readonly seams: InboxSeams;
};

const TOKEN = 'simulated-0123456789abcdef';
export const CALLBACK = `http://127.0.0.1:8443/hooks/${TOKEN}`;
const KEPT = { rows: 100_000, bytes: 64_000_000 };

type Door = { readonly life: Life; readonly desk: DeliveryQueue };

export class InboxWire implements DeliveryPort {
  readonly #options: InboxOptions;
  readonly #db = new Database(':memory:');
  readonly #store: InboxStore = inboxStoreIn(this.#db, KEPT);
  /** Texts that were answered with 200, and those that came before. */
  readonly #answered = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #ended = new Set<string>();
  #door: Door | null = null;
  #forged = 0;

  constructor(options: InboxOptions) {
    this.#options = options;
    const { world } = options;
    world.often('webhooks forged', 20_000, chance => this.#forge(chance));
  }

  /** A life listens from now on. `moved` is what a delivery may make it do: look. */
  open(life: Life, moved: () => void): void {
    const { world, store, seams, numbers, breaks } = this.#options;
    const { clock } = life;
    const read = inboxReader(delivery);
    for (const { body } of this.#store.all()) read(body);
    const hear = inboxHearing(
      heardLog(none),
      {
        moved: () => {
          world.marks.see('a webhook made the bot look');
          moved();
        },
      },
      () => clock.elapsed(),
    );
    const inner = seams.store?.(this.#store) ?? this.#store;
    const counts = { stored: 0, repeated: 0, waiting: 0, noRoom: 0, failed: 0 };
    const desk = new DeliveryQueue(
      {
        store: {
          put: batch => {
            life.step('before deliveries');
            if (store.isFull) throw new Error('ENOSPC: no space left on device (simulated)');
            const fresh = inner.put(batch);
            life.step('after deliveries');
            return fresh;
          },
        },
        elapsed: () => clock.elapsed(),
        room: () => null,
        soon: call => void clock.after(0, call),
        onStored: ({ body }) => {
          const news = read(body);
          if (news === null) return;
          const before = numbers();
          seams.told?.(body.toString('utf8'));
          hear(news);
          if (numbers() !== before) breaks('W3', `a delivery changed a number: ${body.toString('utf8').slice(0, 200)}`);
          if (news.kind === 'transaction' && news.refund !== null) world.marks.see('a refund was told of');
        },
        onProblem: problem => world.trace.add(`inbox ${problem}`),
      },
      counts,
    );
    this.#door = { life, desk };
  }

  /** From the exchange. */
  post(url: string, _headers: Readonly<Record<string, string>>, body: string): Promise<number> {
    const { world } = this.#options;
    const chance = world.chance('deliveries');
    const lost = world.struck('webhooks lost', 0.6, () => (chance.hit(0.5) ? 'answer' : 'delivery'));
    if (lost === 'delivery') return NEVER;
    const late = world.struck('webhooks late', 0.6, () => chance.between(500, 60_000)) ?? 0;
    const way = () => 5 + chance.next() * 40;
    const answer = new Promise<number>((resolve, reject) => {
      world.clock.after(late + way(), () => void this.#arrive(url, body).then(resolve, reject));
    });
    const again = world.struck('webhooks duplicated', 0.6, () => chance.between(0, 20_000));
    if (again !== null) world.clock.after(late + again, () => void this.#arrive(url, body).catch(none));
    answer.catch(none);
    return lost === 'answer' ? NEVER : answer;
  }

  /** What was answered is on disk, once, and says what the exchange says. */
  check(exchange: EmbeddedExchange): void {
    const { breaks } = this.#options;
    const read = inboxReader(delivery);
    const kept = new Set<string>();
    const said = new Map<string, { status: string; refund: string | null }>();
    for (const { body } of this.#store.all()) {
      kept.add(body.toString('utf8'));
      const news = read(body);
      if (news?.kind === 'transaction') said.set(news.id, news);
    }
    for (const body of this.#answered)
      if (!kept.has(body)) breaks('W1', `a delivery was answered and is not on disk: ${body.slice(0, 200)}`);
    for (const { id, status, refund } of exchange.transactions.all()) {
      if (!this.#ended.has(`${id} ${status} ${refund?.status ?? null}`)) continue;
      const joined = said.get(id);
      if (joined?.status !== status || joined.refund !== (refund?.status ?? null))
        breaks(
          'W2',
          `transaction ${id} is ${status}, ${refund?.status}; the inbox has ${joined?.status}, ${joined?.refund}`,
        );
    }
  }

  close(): void {
    this.#db.close();
  }

  /** At the bot's door; resolves to the status of its answer, and never when it dies over it. */
  #arrive(url: string, body: string): Promise<number> {
    const { world } = this.#options;
    const door = this.#door;
    if (!door?.life.isAlive) {
      world.marks.see('a delivery came while nobody listened');
      return Promise.reject(new Error('connection refused'));
    }
    world.touched = true;
    return new Promise(resolve =>
      door.life.receive(() => {
        if (!url.endsWith(`/hooks/${TOKEN}`)) {
          resolve(404);
          return;
        }
        this.#note(body);
        void door.desk
          .take({ at: door.life.clock.now(), from: '203.0.113.9', body: Buffer.from(body) })
          .then(stored => {
            if (!door.life.isAlive) return;
            if (stored) this.#answered.add(body);
            else world.marks.see('a delivery could not be stored');
            if (stored) this.#noteEnd(body);
            world.trace.add(`delivery ${stored ? 200 : 503} ${body.slice(0, 90)}`);
            world.touched = true;
            resolve(stored ? 200 : 503);
          }, ignoreDeath);
      }),
    );
  }

  #note(body: string): void {
    const { marks } = this.#options.world;
    if (this.#seen.has(body)) marks.see('a webhook came twice');
    this.#seen.add(body);
    const told = payloadOf(body);
    if (told?.status === 'PENDING' && [...this.#ended].some(end => end.startsWith(`${told.id} `)))
      marks.see('webhooks came out of order');
  }

  #noteEnd(body: string): void {
    const told = payloadOf(body);
    if (told?.status !== 'COMPLETE' && told?.status !== 'FAILED') return;
    this.#ended.add(`${told.id} ${told.status} ${told.refund ?? null}`);
  }

  /** By somebody who knows the path, or guesses it. */
  #forge(chance: Chance): () => void {
    const { world } = this.#options;
    const knows = chance.hit(0.6);
    const url = knows ? CALLBACK : CALLBACK.replace('0123', '9999');
    const body = forgery(chance, ++this.#forged);
    return () => {
      world.count('webhooks forged');
      void this.#arrive(url, body).then(status => {
        if (status === 404) world.marks.see('a forged delivery was turned away');
        else if (status === 200) world.marks.see('a forged delivery was kept, and changed nothing');
      }, none);
    };
  }
}

/** Money that moves beside the bot, told of by webhooks: deposits, withdrawals, issuances and redemptions, some with a refund. */
export function startTransactions(
  world: World,
  exchange: EmbeddedExchange,
  accountId: string,
  moves: () => void,
): void {
  world.often('transactions', 150_000, chance => {
    const account = exchange.venue.accounts.get(accountId)!;
    const sum = money(BigInt(chance.integer(1, 900)) * 10n ** 18n);
    const common = { network: 'ARBITRUM', asset: 'mxn', sum, from: '0xf', to: '0xt', hash: `0x${sum}` } as const;
    const failure = chance.hit(0.2) ? { reason: 'simulated', code: 'transaction_failed' } : null;
    const refund = chance.hit(0.5)
      ? { steps: ['PLATFORM_TRANSFER'], outcome: chance.pick(['COMPLETE', 'FAILED'] as const) }
      : null;
    const details = chance.pick([
      { ...common, kind: 'CRYPTO_DEPOSIT' },
      { ...common, kind: 'CRYPTO_WITHDRAWAL' },
      { ...common, kind: 'ISSUANCE', method: 'PLATFORM_TRANSFER', bank: null, fiatId: null },
      { ...common, kind: 'REDEMPTION', method: 'PLATFORM_TRANSFER', clabe: null, fiatId: null },
    ] as const);
    return () => {
      world.count('transactions');
      moves();
      exchange.transactions.start(account, details, { failure, refund }, null);
    };
  });
}

function forgery(chance: Chance, n: number): string {
  const at = '2026-01-01T00:00:00Z';
  const row = (type: string, of: object) =>
    JSON.stringify({
      event: 'TRANSACTION',
      payload: {
        id: `forged-${n}`,
        type,
        status: 'COMPLETE',
        created_at: at,
        updated_at: at,
        [type.toLowerCase()]: of,
      },
    });
  return chance.pick([
    () => row('CRYPTO_DEPOSIT', { network: 'BITCOIN', amount: '1000', asset: 'MXN', crypto_tx_hash: '0x1' }),
    () =>
      row('CONVERSION', {
        quote_id: `q-${n}`,
        asset_from: 'BTC',
        asset_to: 'MXN',
        amount_from: '1',
        amount_to: '2',
        exchange_rate: '2',
      }),
    () => `{"__proto__":{"polluted":${n}},"event":"TRANSACTION"}`,
    () => `${'['.repeat(20_000)}${n}`,
    () => `not json ${n}`,
    () => JSON.stringify({ event: 'SOMETHING', payload: n }),
  ])();
}

function payloadOf(body: string): { id: string; status: string; refund: string | undefined } | null {
  try {
    const { payload } = JSON.parse(body) as {
      payload: { id: string; status: string; type: string } & Record<string, { refund_status?: string } | string>;
    };
    const of = payload[payload.type.toLowerCase()] as { refund_status?: string };
    return { id: payload.id, status: payload.status, refund: of.refund_status };
  } catch {
    return null;
  }
}

const none = (): void => undefined;
const ignoreDeath = (error: unknown): void => {
  if (!(error instanceof Dead)) throw error;
};
const NEVER = new Promise<never>(none);
