/** Settings of a configuration that a replay of recordings does not simulate. */
import { marketBooksOf, recordedBooksOf, type Config } from '../../../src/config.ts';

/**
 * Returns a sentence for each section of the configuration that has no effect in a replay, or a different effect than
 * in a live run. `isHedged`: whether a recording of the other exchange executes the hedges there.
 */
export function notSimulated(
  { exchange, hedge, rfqReference, reference }: Config,
  isHedged = false,
): readonly string[] {
  const sources = reference?.sources ?? [];
  const [first] = sources;
  return [
    ...(recordedBooksOf(exchange) === undefined
      ? []
      : ['exchange.market.books: only the traded book is replayed, without the recordings of these books']),
    ...(marketBooksOf(exchange) === undefined
      ? []
      : [
          'exchange.market.books: only the traded book is simulated; the seeded flow of a backtest does not follow the hidden prices of these books',
        ]),
    ...(hedge?.elsewhere === undefined
      ? []
      : [
          isHedged
            ? 'hedge.elsewhere: orders do not change the recorded book of the other exchange; its rejections, lost answers and transfers are not simulated'
            : 'hedge.elsewhere: hedges on the other exchange are not simulated; inventory.target is ignored, and the opening balance is the target',
        ]),
    ...(rfqReference === undefined
      ? []
      : [
          `rfqReference: RFQ prices are not simulated${rfqReference.capsSkew ? '; the skew is not capped (capsSkew)' : ''}${rfqReference.thinBps === undefined ? '' : '; a book with a spread above thinBps is never quoted'}`,
        ]),
    ...(first === undefined || sources.length === 1
      ? []
      : [
          `reference.sources: only the first source (${first.name}) is simulated, from its recordings; sourcesMin and the other sources are ignored`,
        ]),
  ];
}

/** Keys and sections that change nothing in a replay of recordings, whatever else the configuration sets. */
const UNSIMULATED: readonly string[] = [
  ...[
    'instance',
    'elsewhere',
    'paper',
    'sentinel',
    'metrics',
    'state',
    'journal',
    'webhooks',
    'alerts',
    'console',
    'log',
  ],
  ...[
    'hedge.elsewhere',
    'reference.sourcesMin',
    'exchange.engineDelayMs',
    'exchange.market.arbitrageur',
    'exchange.market.correlation',
    'exchange.seed',
    'exchange.port',
    'timing.bookPollMs',
    'timing.shutdownMs',
  ],
  ...['exchange.restUrl', 'exchange.rfqUrl', 'exchange.webhookUrl', 'exchange.streamUrl'],
  ...['exchange.stream', 'exchange.authentication', 'exchange.budgets.publicPerMinute', 'rfqReference.amount'],
  ...['rfqReference.everyMs', 'rfqReference.staleAfterMs', 'rfqReference.withinBps', 'rfqReference.beyond'],
  'rfqReference.capsSkew',
];

/** Keys of `hedge.elsewhere` that change nothing in a replay with hedges on the other exchange. */
const UNSIMULATED_HEDGED: readonly string[] = ['transferFeeMax', 'transferMax', 'transferWaitHours'].map(
  key => `hedge.elsewhere.${key}`,
);

/**
 * Returns the entry of `UNSIMULATED` that is or contains the key at `path`; `null` if the key can have an effect in a
 * replay. `isHedged`: whether a recording of the other exchange executes the hedges there.
 */
export function unsimulatedKey(path: string, isHedged = false): string | null {
  const keys = isHedged
    ? [...UNSIMULATED.filter(key => key !== 'hedge.elsewhere'), ...UNSIMULATED_HEDGED]
    : UNSIMULATED;
  return keys.find(key => path === key || path.startsWith(`${key}.`)) ?? null;
}
