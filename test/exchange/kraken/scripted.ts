/** A client of Kraken on a transport whose replies a test chooses, with the requests that it sent. */
import {
  Secret,
  unstored,
  VirtualClock,
  type VenueClient,
  type WireReply,
  type WireRequest,
} from '../../../src/core/index.ts';
import { randomOf } from '../../../src/core/ports/random.ts';
import { kraken } from '../../../src/exchange/index.ts';

export const SECRET_TEXT = Buffer.from('a secret').toString('base64');

export const reply = (
  result: unknown,
  error: readonly string[] = [],
  headers: Record<string, string> = {},
): WireReply => ({
  ...{ status: 200, headers, body: JSON.stringify({ error, ...(result === undefined ? {} : { result }) }) },
});

export const ASSETS = {
  ...{ XXBT: { altname: 'XBT' }, ZUSD: { altname: 'USD' }, XLTC: { altname: 'LTC' }, USDT: { altname: 'USDT' } },
  ...{ XXDG: { altname: 'XDG' } },
};
const pairOf = (altname: string, wsname: string, base: string, quote: string, decimals: number) => ({
  ...{ altname, wsname, base, quote, pair_decimals: decimals, lot_decimals: 8, status: 'online' },
  ...{ fees: [[0, 0.26]], fees_maker: [[0, 0.16]], ordermin: '0.0001', costmin: '0.5', tick_size: `1e-${decimals}` },
});
export const ASSET_PAIRS = {
  XXBTZUSD: pairOf('XBTUSD', 'XBT/USD', 'XXBT', 'ZUSD', 2),
  LTCUSDT: pairOf('LTCUSDT', 'LTC/USDT', 'XLTC', 'USDT', 5),
  XBTUSDT: pairOf('XBTUSDT', 'XBT/USDT', 'XXBT', 'USDT', 1),
};

export type Seen = WireRequest & { readonly name: string; readonly form: Readonly<Record<string, string>> };
export type Answerer = (request: Seen) => WireReply | Promise<WireReply>;

/** Creates the client. Lists of assets and pairs are answered; all other requests by `answer`. */
export function scriptedKraken(
  answer: Answerer,
  { clock = new VirtualClock(1_700_000_000_000), privatePerMinute = 60, pairs = (): object => ASSET_PAIRS } = {},
): { readonly client: VenueClient; readonly sent: Seen[]; readonly clock: VirtualClock } {
  const sent: Seen[] = [];
  const client = kraken.connect({
    ...{ clock, random: randomOf(1), restUrl: kraken.restUrl('https://api.kraken.com'), deadlineMs: 5_000 },
    transport: {
      send: async request => {
        const url = new URL(request.target, 'https://api.kraken.com');
        const name = url.pathname.split('/').at(-1)!;
        if (name === 'Assets') return reply(ASSETS);
        if (name === 'AssetPairs') return reply(pairs());
        const fields = request.method === 'GET' ? url.searchParams : new URLSearchParams(request.body);
        const seen = { ...request, name, form: Object.fromEntries(fields) };
        sent.push(seen);
        return answer(seen);
      },
      close: () => Promise.resolve(),
    },
    credentials: { key: 'key', secret: new Secret(SECRET_TEXT), nonceAbove: 0n, durable: unstored },
    budgets: { public: 60, private: privatePerMinute },
  });
  return { client, sent, clock };
}
