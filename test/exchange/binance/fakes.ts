/** Clients of Binance over the second exchange in process, and over scripted answers. */
import {
  randomOf,
  TransportFailure,
  unstored,
  VirtualClock,
  type Clock,
  type Transport,
  type VenueClient,
  type WireReply,
  type WireRequest,
} from '../../../src/core/index.ts';
import { Secret } from '../../../src/core/text/secret.ts';
import { binanceSpot } from '../../../src/exchange/index.ts';
import { createSecondExchange, type SecondExchange, type SecondSwitches } from '../../../src/sandbox/index.ts';
import { ScriptedTransport, type Answer } from '../bitso/fakes.ts';

const DEADLINE_MS = 5_000;

/** Carries requests to the exchange with its delays and faults; silence ends at the deadline of the client. */
export function transportTo(exchange: SecondExchange, clock: Clock): Transport & { readonly sent: WireRequest[] } {
  const sent: WireRequest[] = [];
  return {
    sent,
    send: request =>
      new Promise<WireReply>((resolve, reject) => {
        sent.push(request);
        const fail = (why: string) => reject(new TransportFailure(why, true));
        const deadline = clock.after(DEADLINE_MS, () => fail('no complete answer'));
        exchange.serveRequest(request, '127.0.0.1', served => {
          if (served === 'silence') return;
          deadline.stop();
          if (served === 'closed' || 'cut' in served) fail('the connection was lost');
          else resolve(served);
        });
      }),
    close: () => Promise.resolve(),
  };
}

export type Desk = {
  readonly clock: VirtualClock;
  readonly exchange: SecondExchange;
  readonly client: VenueClient;
  readonly other: VenueClient;
  /** Returns a new client with the key of the first, as after a restart. */
  readonly again: () => VenueClient;
  readonly sent: WireRequest[];
  /** Resolves a call while the clock runs. */
  readonly run: <T>(call: Promise<T>) => Promise<T>;
};

/** A client with funds on the second exchange, and one of another account. */
export function deskOn(switches: Partial<SecondSwitches> = {}, deadlineMs = DEADLINE_MS): Desk {
  const clock = new VirtualClock();
  const exchange = createSecondExchange({ clock, seed: 5, switches });
  const transports: (Transport & { readonly sent: WireRequest[] })[] = [];
  const account = () => exchange.openAccount({ balances: { btc: '10', usdt: '1000000', bnb: '100' } });
  const own = account();
  const clientOf = ({ key, secret }: ReturnType<typeof account>): VenueClient => {
    const transport = transportTo(exchange, clock);
    transports.push(transport);
    return binanceSpot.connect({
      ...{ clock, random: randomOf(1), restUrl: 'http://127.0.0.1/api', transport, book: 'btc_usdt', deadlineMs },
      credentials: { key, secret: new Secret(secret), nonceAbove: 0n, durable: unstored },
      budgets: { public: 100_000, private: 100_000 },
    });
  };
  const [client, other] = [clientOf(own), clientOf(account())];
  return {
    again: () => clientOf(own),
    ...{ clock, exchange, client, other, sent: transports[0]!.sent },
    run: async call => {
      let isOver = false;
      void call.finally(() => (isOver = true));
      for (let steps = 0; !isOver && steps < 1_000; steps++) await clock.advance(50);
      return call;
    },
  };
}

export const SYMBOLS = {
  symbols: [
    {
      ...{ symbol: 'BTCUSDT', status: 'TRADING', baseAsset: 'BTC', quoteAsset: 'USDT', isSpotTradingAllowed: true },
      ...{ baseAssetPrecision: 8, quoteAssetPrecision: 8 },
      filters: [
        { filterType: 'PRICE_FILTER', minPrice: '0.01000000', maxPrice: '1000000.00000000', tickSize: '0.01000000' },
        { filterType: 'LOT_SIZE', minQty: '0.00001000', maxQty: '9000.00000000', stepSize: '0.00001000' },
        { filterType: 'NOTIONAL', minNotional: '5.00000000', maxNotional: '9000000.00000000' },
      ],
    },
  ],
};

/** A client whose answers are scripted; rules and time are answered by themselves. */
export function scriptedBinance(
  answer: Answer,
  deadlineMs = DEADLINE_MS,
  symbols: readonly object[] = SYMBOLS.symbols,
  budgets = { public: 100_000, private: 100_000 },
) {
  const clock = new VirtualClock();
  const json = (body: unknown): WireReply => ({ status: 200, headers: {}, body: JSON.stringify(body) });
  const transport = new ScriptedTransport(request => {
    if (request.target.startsWith('/api/v3/time')) return json({ serverTime: 1_700_000_000_000 });
    if (request.target.startsWith('/api/v3/exchangeInfo')) return json({ symbols });
    return answer(request);
  });
  const client = binanceSpot.connect({
    ...{ clock, random: randomOf(1), restUrl: 'http://127.0.0.1/api', transport, book: 'btc_usdt', deadlineMs },
    credentials: { key: 'the-key', secret: new Secret('the-secret'), nonceAbove: 0n, durable: unstored },
    budgets,
  });
  return { client, clock, transport };
}
