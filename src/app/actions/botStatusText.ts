/** Text of a bot's status, normally at most fifteen rows of eighty columns. */
import { counted, moneyOf, shortDecimal, type Millis } from '../../core/index.ts';
import { leadText, type ShownElsewhere, type ShownHedging } from '../../console/index.ts';
import { isPaperState } from '../../live/state/paperMark.ts';
import { ownCommand } from '../../messages/ownCommand.ts';
import { wrapped } from '../../messages/wrapped.ts';
import { holderText } from '../inspect/botLife.ts';
import { profitPartsText, profitSentenceOf, signedCents } from '../../messages/shownProfit.ts';
import { VIA_TEXT } from './actions.ts';
import { profitOfBook, type BotStatus, type RunStatus, type StatusLimit, type StatusQuote } from './botStatus.ts';

const WIDTH = 80;
const NAME = 11;

/** Row of the status: a name and its text, of any length. */
type StatusRow = readonly [name: string, text: string];

/** Returns the status as text. `where`: state directory of the bot, shown instead of its name if it has never run. */
export function botStatusText(of: BotStatus, where: string): string {
  const { title, rows } = statusRows(of, where, remedyIn(where));
  return [
    // The rest of a long title is indented further than the names of the rows.
    ...wrapped(title, WIDTH - 4).map((part, i) => `${i === 0 ? '' : '    '}${part}`),
    ...rows.flatMap(([name, text]) =>
      wrapped(text, WIDTH - NAME - 2).map((part, i) => `  ${(i === 0 ? name : '').padEnd(NAME)}${part}`),
    ),
  ].join('\n');
}

/** Returns the status as text for a narrow screen, which wraps its lines itself. */
export function botStatusMessage(of: BotStatus, where: string): string {
  const { title, rows } = statusRows(of, where, ON_THE_MACHINE);
  return [title, ...rows.map(([name, text]) => `${name}: ${text}`)].join('\n');
}

/** Returns how to cancel the orders of a bot without a heartbeat, for a person at its machine. */
const remedyIn = (dir: string): string =>
  isPaperState(dir)
    ? 'they are on paper, and the next start cancels them'
    : `cancel all orders with: ${ownCommand('halt --cancel', { stateDir: dir })}`;

/** The same for a person who reads this elsewhere, and does not need the folders of the machine. */
const ON_THE_MACHINE = 'cancel all orders on its machine, with puntas halt --cancel';

function statusRows(
  of: BotStatus,
  where: string,
  remedy: string,
): { readonly title: string; readonly rows: readonly StatusRow[] } {
  const { run, heldBy, lastAction, note, disk, profit } = of;
  const others = of.otherBooks ?? [];
  const books = [...(run === null ? [] : [run]), ...others].map(({ book }) => book);
  // With several books, the rows of each book follow its name.
  const alone = others.length === 0 ? run : null;
  const name = run === null ? where : `${run.instance} on ${books.join(', ')}`;
  const rows: readonly StatusRow[] = [
    ...(alone === null ? [] : [['regime', regimeText(alone, heldBy)] as const]),
    ...(heldBy.length === 0
      ? [['held by', 'none'] as const]
      : heldBy.map(held => ['held by', heldText(held)] as const)),
    ...(alone === null ? [] : runRows(alone)),
    ...(run === null || alone !== null ? [] : bookRows(run, profit, of)),
    ...others.flatMap(other => bookRows(other, profitOfBook(of, other.book), of)),
    ...(run?.smallestSizes ?? []).map(sentence => ['size', sentence] as const),
    ...(run?.elsewhere ? elsewhereRows(run.elsewhere, of) : []),
    ...(disk === null
      ? []
      : [['disk', `the state directory cannot be written (${disk}); figures and heartbeats may be outdated`] as const]),
    ...(others.length > 0 ? [] : profitRows(run, profit)),
    ...(of.otherProfits ?? []).flatMap(({ book, profit: other }) =>
      other === null || books.includes(book) ? [] : [['profit', `of ${book}: ${profitText(other)}`] as const],
    ),
    ['actions', lastAction === null ? 'no command or console action is recorded' : lastText(lastAction)],
    ...(note === null ? [] : [['note', note] as const]),
  ];
  return { title: `${name}: ${lifeText(of, remedy)}`, rows };
}

/** Returns the rows of one of several books. */
function bookRows(run: RunStatus, profit: BotStatus['profit'], { heldBy }: BotStatus): readonly StatusRow[] {
  const known = profitRows(run, profit);
  return [
    ['book', run.book],
    ['regime', regimeText(run, heldBy)],
    ...runRows(run),
    ...(known.length > 0 ? known : [['profit', 'unknown'] as const]),
  ];
}

/** Returns the row of the profit, or no row if the bot has not run or states no reason for a missing profit. */
function profitRows(run: RunStatus | null, profit: BotStatus['profit']): readonly StatusRow[] {
  if (profit !== null) return [['profit', profitText(profit)]];
  if (run === null || run.profit !== null || run.unknown === null) return [];
  return [['profit', `unknown until the bot has read its trades again: ${run.unknown}`]];
}

function runRows(run: RunStatus): readonly StatusRow[] {
  const { market, inventory, holdings, fills, recorded, unknown } = run;
  const why = run.whyNot === null || run.whyNot === run.regime.why ? '' : `; ${run.whyNot}`;
  return [
    ['quotes', `${bothText(run)}${why}`],
    ['market', `bid ${shortDecimal(market.bid ?? 'none')}, ask ${shortDecimal(market.ask ?? 'none')}`],
    [
      'inventory',
      inventory.fromTarget === null || holdings === null
        ? `unknown: ${unknown ?? ''}; last recorded: ${inventoryText(recorded.inventory, recorded.holdings, inventory.currency)}`
        : inventoryText(inventory.fromTarget, holdings, inventory.currency),
    ],
    ['limits', limitsText(run.limits)],
    [
      'fills',
      fills === null ? `unknown; fills in the recording of this run: ${recorded.fills}` : `${fills} in this run`,
    ],
  ];
}

function inventoryText(fromTarget: string, holdings: Readonly<Record<string, string>>, currency: string): string {
  const all = Object.entries(holdings).filter(([, sum]) => /[1-9]/.test(sum));
  const held = all.length === 0 ? ['nothing'] : all.map(([name, sum]) => `${shortDecimal(sum)} ${name}`);
  return `${shortDecimal(fromTarget)} ${currency} from its target; holdings: ${held.join(', ')}`;
}

/** Returns rows about prices and hedges on other exchanges, in the words of the console. */
function elsewhereRows({ sources, hedging }: ShownElsewhere, { bot, recordedTo, at }: BotStatus): readonly StatusRow[] {
  const last = bot.state === 'runs' || recordedTo === null ? '' : 'last recorded: ';
  return [
    ...sources.map(source => ['source', `${last}${sourceText(source)}`] as const),
    ...(hedging === null
      ? []
      : ([
          ['hedge debt', `${last}${debtText(hedging, recordedTo ?? at)}`],
          ['elsewhere', `${last}${placeText(hedging)}`],
          ['hedges', hedgesText(hedging)],
        ] as const)),
  ];
}

function sourceText({
  name,
  notUsed,
  price,
  fromMidBps,
  basisBps,
  basisErrorBps,
  lead,
  noLead,
}: ShownElsewhere['sources'][number]): string {
  const parts = [
    price === null
      ? 'no price'
      : `${price}${fromMidBps === null ? '' : `, ${signed(fromMidBps)} bps from the mid price of the bot's book`}`,
    ...(basisBps === null || basisErrorBps === null
      ? []
      : [`basis ${signed(basisBps)} ± ${basisErrorBps.toFixed(1)} bps`]),
    lead === null ? (noLead ?? 'lead unknown') : leadText(lead),
  ];
  return `${name}: ${notUsed === null ? '' : `NOT USED (${notUsed}); `}${parts.join('; ')}`;
}

function debtText({ debt, debtMax, currency, open, failures, place }: ShownHedging, at: Millis): string {
  const hedge =
    open === null
      ? 'no open hedge'
      : `hedge ${open.id} open at ${place} for ${ago(at - open.since)}${open.isUnknown ? ', OUTCOME UNKNOWN' : ''}`;
  const failed = failures === 0 ? '' : `; consecutive failed hedges: ${failures}`;
  return `${shortDecimal(debt)} of ${shortDecimal(debtMax)} ${currency}; ${hedge}${failed}`;
}

function placeText({ inventory, currency, drift, driftValue, quoteCurrency, place }: ShownHedging): string {
  const known = (sum: string | null) => (sum === null ? 'unknown' : shortDecimal(sum));
  const held = inventory.map(
    ({ exchange, base, quote, quoteCurrency: quoted }) =>
      `${exchange} ${known(base)} ${currency}, ${known(quote)} ${quoted}`,
  );
  if (drift === null) return `${held.join('; ')}; drift unknown`;
  const quoted = inventory.find(({ exchange }) => exchange === place)?.quoteCurrency ?? '';
  const value = driftValue === null ? 'value unknown' : `${signedCents(moneyOf(driftValue))} ${quoteCurrency}`;
  return `${held.join('; ')}; drift ${signedCents(moneyOf(drift))} ${quoted} (${value})`;
}

function hedgesText({ last, currency }: ShownHedging): string {
  if (last.length === 0) return 'none on the other exchange in this run';
  return last
    .slice(0, 3)
    .map(({ at, amount, traded, state, why, paidBps, expectedBps, otherFees }) => {
      const verbs = amount.startsWith('-') ? (['to buy', 'bought'] as const) : (['to sell', 'sold'] as const);
      const what = `${verbs[traded === null ? 0 : 1]} ${shortDecimal((traded ?? amount).replace('-', ''))} ${currency}`;
      const paid = paidBps === null ? state : `cost ${paidBps.toFixed(1)} bps${otherFees === null ? '' : ' + fee'}`;
      const expected =
        expectedBps === null
          ? ''
          : ` (expected ${expectedBps.toFixed(1)} bps, including price risk and the cost of conversion back)`;
      return `${new Date(at).toISOString().slice(11, 19)} ${what}, ${paid}${expected}${why === null ? '' : ` (${why})`}`;
    })
    .join('; ');
}

const signed = (bps: number): string => `${bps > 0 ? '+' : ''}${bps.toFixed(1)}`;

function lifeText({ at, bot, run, recordedTo, openOrders, disk }: BotStatus, remedy: string): string {
  const recorded = recordedTo === null ? '' : `; last recorded ${ago(at - recordedTo)} ago`;
  const since = bot.since === null ? '' : ` since ${time(bot.since)} (${ago(at - bot.since)})`;
  const number = run === null ? '' : `, run ${run.number}`;
  switch (bot.state) {
    case 'runs':
      return `runs${since}${number}${recorded}`;
    case 'stopped':
      return `not running; stopped cleanly ${ago(bot.beatAgoMs ?? 0)} ago${number}`;
    case 'silent':
      return `NO HEARTBEAT for ${ago(bot.beatAgoMs ?? 0)}, and the bot was not stopped${disk === null ? '' : ` (it may still be running, but cannot write a heartbeat to its state directory: ${disk})`}: ${leftText(at, openOrders, remedy)}`;
    case 'never ran':
      return 'no bot has run with this state directory yet';
  }
}

function leftText(now: Millis, { count, at, by }: BotStatus['openOrders'], remedy: string): string {
  if (count === 0)
    return `no open orders, verified by ${by === 'sentinel' ? 'the sentinel' : by} ${ago(now - (at ?? now))} ago`;
  const known =
    count === null
      ? 'orders may still be open'
      : `${counted(count, 'order of the bot was', 'orders of the bot were')} open ${ago(now - (at ?? now))} ago`;
  return `${known}; ${remedy}`;
}

/**
 * Formats the regime. Omits a reason that comes from the operator or a limit, because other lines show it with its
 * source.
 */
function regimeText({ regime: { regime, since, why } }: RunStatus, heldBy: BotStatus['heldBy']): string {
  const isBelow = heldBy.some(({ reason }) => why.startsWith(reason));
  return `${regime} since ${since === null ? 'the start' : time(since)}${isBelow ? '' : `: ${why}`}`;
}

const heldText = (held: BotStatus['heldBy'][number]): string =>
  `${holderText(held)} since ${time(held.at)}${held.until === null ? '' : ` until ${time(held.until)}`}: ${held.reason}`;

function bothText({ bids, asks, recorded }: RunStatus): string {
  const text = (of: { readonly bids: readonly StatusQuote[]; readonly asks: readonly StatusQuote[] }) =>
    `${quotesText('bid', of.bids)}, ${quotesText('ask', of.asks)}`;
  return bids === null || asks === null ? `unknown; last recorded: ${text(recorded)}` : text({ bids, asks });
}

const quotesText = (word: string, quotes: readonly StatusQuote[]): string => {
  const [best] = quotes;
  if (best === undefined) return `no ${word}`;
  const many = `${counted(quotes.length, word)}${quotes.length === 1 ? '' : ', best'}`;
  return `${many} ${shortDecimal(best.amount)} at ${shortDecimal(best.price)}`;
};

/** Lists the limits, most used first. */
export function limitsText(limits: readonly StatusLimit[]): string {
  const used = limits.filter(({ share }) => share > 0).toSorted((a, b) => b.share - a.share);
  if (used.length === 0)
    return limits.length === 0 ? 'no limit is set' : `used: 0% of all ${counted(limits.length, 'limit')}`;
  const rest = limits.length - used.length;
  return `used: ${used.map(limitText).join(', ')}${rest === 0 ? '' : `; other limits (${rest}): 0%`}`;
}

/**
 * Formats the use of a limit as a percentage, rounded up, so that any use is visible. Below the limit it is at most
 * 99%; 100% means that the limit is reached.
 */
const limitText = ({ limit, share }: StatusLimit): string =>
  `${limit} ${Number.isFinite(share) ? `${share >= 1 ? Math.floor(share * 100) : Math.min(99, Math.ceil(share * 100))}%` : 'BEYOND'}`;

const lastText = ({ action, book, by, via, at, end, reason }: NonNullable<BotStatus['lastAction']>): string =>
  `${action}${book === undefined ? '' : ` of ${book}`} by ${by}${VIA_TEXT[via]} at ${time(at)}${end === 'refused' ? ', refused' : ''}; reason: ${reason === '' ? 'none given' : reason}`;

/** Formats a UTC time to the second. */
const time = (at: Millis): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

function ago(ms: Millis): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 120) return `${s} s`;
  if (s < 7_200) return `${Math.floor(s / 60)} min`;
  return `${Math.floor(s / 3_600)} h ${Math.floor((s % 3_600) / 60)} min`;
}

/** Returns the profit with its parts, in the words that report, console and ledger use. */
const profitText = (profit: NonNullable<BotStatus['profit']>): string =>
  profitSentenceOf(profit, profitPartsText(profit));
