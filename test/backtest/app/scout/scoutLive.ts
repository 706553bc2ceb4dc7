/** A look at ten books of a real server of the embedded exchange, one of which pays; and every request that it counted. */
import { scoutMarket, type Scouted } from '../../../../backtest/app/scout/scout.ts';
import { loadConfig, type Config } from '../../../../src/config.ts';
import { randomOf } from '../../../../src/core/index.ts';
import { realClock } from '../../../../src/live/realClock.ts';
import { createVenue, FLOW_PROFILES, serve } from '../../../../src/sandbox/index.ts';
import { FEE, livingMarket } from '../../scout/plantedBooks.ts';
import { NO_PROGRESS } from '../../../app/noProgress.ts';

export type Look = {
  readonly scouted: Scouted;
  readonly good: string;
  /** The most in any 60 s of the exchange's clock, of requests that arrived, and how many it turned away for that. */
  readonly mostPerMinute: number;
  readonly requests: number;
  readonly turnedAway: number;
  readonly config: Config;
  /** Lines of the checks before the last. */
  readonly checks: readonly string[];
};

/** `forMs` is time of the exchange. */
export async function lookAtTen(of: {
  readonly seed: number;
  readonly speed: number;
  readonly forMs: number;
  readonly stream: boolean;
  readonly untilKnown?: boolean;
}): Promise<Look> {
  const { seed, speed, forMs, stream, untilKnown = false } = of;
  const checks: string[] = [];
  const clock = realClock(speed);
  const venue = createVenue({ clock, seed, switches: { rateWindow: 'sliding' } });
  const names = Object.keys(FLOW_PROFILES);
  const good = names[randomOf(seed).integer(0, names.length - 1)]!;
  const markets = names.map((book, i) => {
    const market = livingMarket(100 * seed + i, {
      startPrice: FLOW_PROFILES[book]!.startPrice,
      ...{ stepBps: 8, takersPerMinute: 20, volatilityBps: 20 },
      moveOfReach: book === good ? 0.1 : 1.2,
    });
    market.start(venue.marketplace(book));
    return market;
  });
  const at: number[] = [];
  let turnedAway = 0;
  const respond: typeof venue.respond = (request, address) => {
    at.push(clock.elapsed());
    const reply = venue.respond(request, address);
    if (reply.status !== 200) turnedAway++;
    return reply;
  };
  const server = await serve({ respond, stream: venue.stream }, { host: '127.0.0.1', port: 0 });
  try {
    const config = remoteConfig(server.url);
    const streamUrl = server.url.replace(/^http/, 'ws');
    const scouted = await scoutMarket(
      {
        ...{ config, books: null, fees: FEE, latencyMs: 25, seed, version: 'test', progress: NO_PROGRESS },
        isStopped: () => false,
      },
      {
        ...{ clock, forMs, untilKnown, log: () => undefined, onChecked: line => checks.push(line) },
        addresses: { restUrl: `${server.url}/api`, ...(stream && { streamUrl }) },
        onStarted: () => undefined,
      },
    );
    return { scouted, good, mostPerMinute: mostIn(at, 60_000), requests: at.length, turnedAway, config, checks };
  } finally {
    await server.close();
    for (const market of markets) market.stop();
    venue.close();
  }
}

function remoteConfig(url: string): Config {
  const loaded = loadConfig(
    `
book: btc_mxn
instance: test
exchange: { kind: remote, restUrl: ${url} }
strategy: { name: ladder, halfSpreadBps: 100, amount: '0.001' }
limits: { positionMax: '1', orderValueMax: '100000', ordersMax: 4, collarBps: 200, drawdownMax: '1', dayLossMax: '1' }
`,
    'a test',
  );
  if (!loaded.ok) throw new Error(loaded.errors.join('; '));
  return loaded.config;
}

/** The most of ascending times that lie within so many ms. */
function mostIn(at: readonly number[], ms: number): number {
  let [most, from] = [0, 0];
  for (let i = 0; i < at.length; i++) {
    while (at[i]! - at[from]! >= ms) from++;
    most = Math.max(most, i - from + 1);
  }
  return most;
}
