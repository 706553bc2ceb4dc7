/** Writes the page of states and reasons: what a bot can be, and every reason that it gives, each with its meaning. */
import type { HedgeState } from '../../../src/core/hedging/hedgeRow.ts';
import { KINDS, type Kind } from '../../causes/kinds.ts';

type State = Exclude<Kind, `alert: ${string}` | `level: ${string}` | `regime: ${string}`>;
type Level = Extract<Kind, `level: ${string}`>;
type RegimeKind = Extract<Kind, `regime: ${string}`>;

/** A reason without a meaning does not compile. */
const REGIMES: Readonly<Record<RegimeKind, string>> = {
  'regime: normal': 'quotes as the strategy decides',
  'regime: wide': 'quotes `wide.factor` times the spread',
  'regime: reduce only': 'quotes only to reduce inventory',
  'regime: paused': 'places nothing and cancels its orders, except for `too many unknown orders`',
  'regime: halted': 'places nothing and cancels its orders until `puntas resume`',
};

const REASONS: Readonly<Record<State, string>> = {
  'wide: the price moves fast': 'volatility above `wide.volatilityBps`',
  'wide: the market is wide': 'market spread above `wide.marketSpreadBps`',
  'wide: the book is thin': 'depth below `wide.depthMin`',
  'reduce only: a person': '`puntas reduce`',
  'reduce only: inventory is near its limit': 'inventory above `reduceOnly.positionShare` of its limit',
  'reduce only: drawdown': 'drawdown above `reduceOnly.drawdownShare` of its limit',
  'reduce only: resumed beyond the limit': 'a resume with inventory beyond its limit',
  'halt: drawdown': 'drawdown above `limits.drawdownMax`',
  'halt: loss': 'loss of the UTC day above `limits.dayLossMax`',
  'halt: position': 'inventory beyond `limits.positionMax`',
  'halt: fills': 'more fills than `halts.fillsPer10Min`',
  'halt: refusals': 'more rejected orders than `halts.refusalsPerMinute`',
  'halt: unknown outcomes': 'more placements without a usable answer than `halts.unknownsPerMinute`',
  'halt: messages': 'more placements and cancels than `halts.messagesPerMinute`',
  'halt: ledger': 'balances differ from the ledger, unexplained',
  'halt: later run': 'an order of a later run: another process uses the name',
  'halt: rival': 'orders of the name keep coming that this process did not place',
  'halt: a person': '`puntas halt`',
  'halt: sentinel: no life': 'the bot sent no heartbeat',
  'halt: sentinel: too many orders': 'more live orders than `limits.ordersMax`',
  'halt: sentinel: started anew': 'the bot was restarted while the sentinel held it',
  'halt: something broke': 'an internal error, or a rejection that needs you',
  'halt: the latch cannot be read': 'the file `HALTED` cannot be read',
  'pause: stopping': 'a stop, or a change of runs',
  'pause: halted': 'a halt',
  'pause: paused by a person': '`puntas pause`',
  'pause: not ready': 'the first reads are not complete',
  'pause: no limits': 'none are configured',
  'pause: rules of the book changed': 'the tick changed; the rules are read again',
  'pause: book is not traded any more': 'the exchange lists it no longer',
  'pause: book stale': 'no current order book',
  'pause: book one-sided': 'no bid, or no ask',
  'pause: book crossed': 'best bid at or above best ask',
  'pause: no live price': 'too few usable sources in `reference.sources`',
  'pause: price moved too far': 'mid price beyond `limits.priceMove` from its median',
  'pause: private data stale': 'orders and trades could not be read',
  'pause: ledger differs from the balances': 'they differ',
  'pause: sentinel is missing': '`sentinel.required`, and no heartbeat of a sentinel',
  'pause: held by the sentinel': 'the bot cannot read its orders, but the sentinel can',
  'pause: too many unknown orders': 'too many orders without a known outcome',
  'pause: the disk does not take the journal': 'the state disk is full or read-only',
};

/** `null`: the words say all. */
const LEVELS: Readonly<Record<Level, string | null>> = {
  'level: its order is on its way': null,
  'level: its order is being canceled': null,
  'level: its order is unknown': null,
  'level: paused after refusals': 'the side waits after a rejected order',
  'level: refused by the exchange': null,
  'level: refused as post-only': 'would have traded on arrival',
  'level: post-only refused, waits for the book': 'waits until the book explains a post-only cancel',
  'level: not sent': null,
  'level: makes way for a hedge': 'not placed in favor of a hedge',
  'level: price is not a number': null,
  'level: amount is not a number': null,
  'level: price below the minimum': null,
  'level: price above the maximum': null,
  'level: below the minimum amount': null,
  'level: below the minimum value': null,
  'level: merged into the next level': 'rounds to the same price',
  'level: cut to the maximum amount': null,
  'level: cut to the maximum value': null,
  'level: not towards the target': 'a hedge order would not reduce inventory',
  'level: price outside the collar': 'beyond `limits.collarBps`',
  'level: price too far from past prices': 'beyond `limits.priceMove`',
  'level: price or amount outside the book rules': null,
  'level: order value limit': 'above `limits.orderValueMax`',
  'level: order amount limit': 'above `limits.orderAmountMax`',
  'level: order count limit': 'above `limits.ordersMax`',
  'level: position limit': 'its fill could exceed `limits.positionMax`',
  'level: currency limit': 'it could exceed `accountLimits.currencies`',
  'level: value limit': 'it could exceed `accountLimits.value`',
  'level: hedge debt limit': 'its fill could exceed `hedge.elsewhere.debtMax`',
  'level: waits for a hedge': 'inventory beyond the band waits for a hedge on the other exchange',
  'level: no hedge elsewhere': 'its fill could not be hedged on the other exchange',
  'level: reduce only': null,
  'level: would cross the book': null,
  'level: would cross our own order': null,
  'level: would cross another order of the account': 'of another bot, or manual',
  'level: insufficient funds': null,
  'level: at the cap': 'inventory at the cap of the strategy',
  'level: no fair value': null,
  'level: cannot earn its fees': 'spread below the fees',
  'level: outside its price range': 'outside the range of the grid',
  'level: pulled: the leader moved': 'the leading price moved past the quote',
  'level: pulled: a large trade': 'a large trade came from this side',
  'level: pulled: the cross rates disagree': 'books of one cycle disagree beyond their costs',
  'level: held back by the strategy': 'the strategy shows nothing here',
};

const HEDGES: Readonly<Record<HedgeState, string>> = {
  requested: 'a quote is requested',
  quoted: 'a quote is available',
  accepted: 'the quote is accepted',
  executing: 'the exchange executes it',
  unknown: 'the outcome is unknown; both outcomes count',
  between: 'between the two legs of a route',
  completed: 'executed and booked',
  failed: 'not executed',
  stranded: 'the first leg was executed, the second was not',
};

/** docs/states.md as Markdown, before formatting. */
export function statesReference(): string {
  const table = (head: string, rows: readonly string[]): string =>
    [`| ${head} | meaning |`, '|---|---|', ...rows].join('\n');
  const of = (kind: string, means: Readonly<Record<string, string | null>>): readonly string[] =>
    KINDS.filter(one => one.startsWith(`${kind}: `)).map(
      one => `| ${linked(one, one.slice(kind.length + 2))} | ${means[one] ?? ''} |`,
    );
  return [
    '<!-- Generated by `npm run docs`; the compiler holds its tables against the code. -->',
    '# States and reasons',
    'These words appear in logs, commands, `/readyz`, metrics and recordings, and do not change within a version. The strictest regime counts. A link leads to what to do.',
    '## Regimes',
    table('regime', of('regime', REGIMES)),
    '### Wide',
    table('reason', of('wide', REASONS)),
    '### Reduce-only',
    table('reason', of('reduce only', REASONS)),
    '## Halts',
    'A halt stays, over restarts, until `puntas resume`. The file `HALTED` in the state directory has the reason.',
    table('reason', of('halt', REASONS)),
    '## Pauses',
    'A pause ends when its cause ends.',
    table('reason', of('pause', REASONS)),
    '## Levels',
    'Why a level or a side is not quoted as the strategy wants it. A level is `placed`, `kept`, `waits`, `canceled` or `not placed`. An empty meaning: the reason says all. Other reasons hold for all levels.',
    table('reason', of('level', LEVELS)),
    '## Hedges',
    table(
      'state',
      Object.entries(HEDGES).map(([state, means]) => `| ${state} | ${means} |`),
    ),
  ].join('\n\n');
}

/** Entries of halts and pauses in the runbook; those with an alert have theirs under its name. */
const ALERTED: Readonly<Record<string, string>> = {
  'pause: book stale': 'puntasbookstale',
  'pause: ledger differs from the balances': 'puntasledgerdiffers',
  'pause: sentinel is missing': 'puntassentinelgone',
};

function linked(kind: Kind, text: string): string {
  if (!/^(?:halt|pause): /.test(kind)) return text;
  const anchor = ALERTED[kind] ?? kind.replace(/[^\w -]/g, '').replaceAll(' ', '-');
  return `[${text}](runbook.md#${anchor})`;
}
