/** Text of a bot's status, normally at most fifteen rows of eighty columns. */
import { moneyOf, shortDecimal, type Millis } from '../../core/index.ts';
import { wrapped } from '../../messages/wrapped.ts';
import { holderText } from '../inspect/botLife.ts';
import { profitSentenceOf, signedCents } from '../../messages/shownProfit.ts';
import type { BotStatus, RunStatus, StatusLimit, StatusQuote } from './botStatus.ts';

const WIDTH = 80;
const NAME = 11;

/** Returns the status as text. `where`: state directory, shown instead of the name if the bot has never run. */
export function botStatusText(of: BotStatus, where: string): string {
  const { run, heldBy, lastAction, note, disk, profit } = of;
  const name = run === null ? where : `${run.instance} on ${run.book}`;
  return [
    ...wrapped(`${name}: ${lifeText(of)}`, WIDTH),
    ...(run === null ? [] : statusRow('regime', regimeText(run, heldBy))),
    ...(heldBy.length === 0
      ? statusRow('held by', 'none')
      : heldBy.flatMap(held => statusRow('held by', heldText(held)))),
    ...(run === null ? [] : runRows(run)),
    ...(disk === null
      ? []
      : statusRow('disk', `the state directory cannot be written (${disk}); figures and heartbeats may be outdated`)),
    ...(profit === null ? [] : statusRow('profit', profitText(profit))),
    ...(profit === null && run !== null && run.profit === null && run.unknown !== null
      ? statusRow('profit', `unknown: ${run.unknown}; the bot reads the trades again when it runs`)
      : []),
    ...statusRow('actions', lastAction === null ? 'no command or console action is recorded' : lastText(lastAction)),
    ...(note === null ? [] : statusRow('note', note)),
  ].join('\n');
}

function runRows(run: RunStatus): readonly string[] {
  const { market, inventory, holdings, fills, recorded, unknown } = run;
  const why = run.whyNot === null || run.whyNot === run.regime.why ? '' : `; ${run.whyNot}`;
  return [
    ...statusRow('quotes', `${bothText(run)}${why}`),
    ...statusRow('market', `bid ${shortDecimal(market.bid ?? 'none')}, ask ${shortDecimal(market.ask ?? 'none')}`),
    ...statusRow(
      'inventory',
      inventory.fromTarget === null || holdings === null
        ? `unknown: ${unknown ?? ''}; last recorded: ${inventoryText(recorded.inventory, recorded.holdings, inventory.currency)}`
        : inventoryText(inventory.fromTarget, holdings, inventory.currency),
    ),
    ...statusRow('limits', limitsText(run.limits)),
    ...statusRow(
      'fills',
      fills === null ? `unknown; the recording of this run has ${recorded.fills}` : `${fills} in this run`,
    ),
  ];
}

function inventoryText(fromTarget: string, holdings: Readonly<Record<string, string>>, currency: string): string {
  const all = Object.entries(holdings).filter(([, sum]) => /[1-9]/.test(sum));
  const held = all.length === 0 ? ['nothing'] : all.map(([name, sum]) => `${shortDecimal(sum)} ${name}`);
  return `${shortDecimal(fromTarget)} ${currency} from its target; holds ${held.join(', ')}`;
}

/**
 * Returns rows that start with a name, followed by the text. The text is wrapped at words and indented after the name.
 */
function statusRow(name: string, text: string): readonly string[] {
  return wrapped(text, WIDTH - NAME - 2).map((part, i) => `  ${(i === 0 ? name : '').padEnd(NAME)}${part}`);
}

function lifeText({ at, bot, run, recordedTo, openOrders, disk }: BotStatus): string {
  const recorded = recordedTo === null ? '' : `; last recorded ${ago(at - recordedTo)} ago`;
  const since = bot.since === null ? '' : ` since ${time(bot.since)} (${ago(at - bot.since)})`;
  const number = run === null ? '' : `, run ${run.number}`;
  switch (bot.state) {
    case 'runs':
      return `runs${since}${number}${recorded}`;
    case 'stopped':
      return `not running; stopped cleanly ${ago(bot.beatAgo ?? 0)} ago${number}`;
    case 'silent':
      return `NO HEARTBEAT for ${ago(bot.beatAgo ?? 0)}, and the bot was not stopped${disk === null ? '' : ` (it may still run, because its state directory cannot be written: ${disk})`}: ${leftText(at, openOrders)}`;
    case 'never ran':
      return 'never ran with this state directory';
  }
}

function leftText(now: Millis, { count, at, by }: BotStatus['openOrders']): string {
  if (count === 0)
    return `no open orders, verified by ${by === 'sentinel' ? 'the sentinel' : by} ${ago(now - (at ?? now))} ago`;
  const known =
    count === null ? 'orders may still be open' : `${count} orders of the bot were open ${ago(now - (at ?? now))} ago`;
  return `${known}; cancel all orders with puntas halt --cancel`;
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
  const many = quotes.length === 1 ? `1 ${word}` : `${quotes.length} ${word}s, best`;
  return `${many} ${shortDecimal(best.amount)} at ${shortDecimal(best.price)}`;
};

/** Lists the limits, most used first. */
function limitsText(limits: readonly StatusLimit[]): string {
  const used = limits.filter(({ share }) => share > 0).toSorted((a, b) => b.share - a.share);
  if (used.length === 0) return limits.length === 0 ? 'no limit is set' : `none of the ${limits.length} limits is used`;
  const rest = limits.length - used.length;
  return `used: ${used.map(limitText).join(', ')}${rest === 0 ? '' : `; ${rest} others unused`}`;
}

/**
 * Formats the use of a limit as a percentage, rounded up, so that any use is visible. Below the limit it is at most
 * 99%; 100% means that the limit is reached.
 */
const limitText = ({ limit, share }: StatusLimit): string =>
  `${limit} ${Number.isFinite(share) ? `${share >= 1 ? Math.floor(share * 100) : Math.min(99, Math.ceil(share * 100))}%` : 'BEYOND'}`;

const lastText = ({ action, by, via, at, end, reason }: NonNullable<BotStatus['lastAction']>): string =>
  `${action} by ${by}${via === 'console' ? ' in the console' : ''} at ${time(at)}${end === 'refused' ? ', refused' : ''}: ${reason === '' ? 'no reason given' : reason}`;

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
  `${profitSentenceOf(profit)}: ${(['spread', 'inventory', 'fees', 'hedging'] as const)
    .map(part => `${part} ${signedCents(moneyOf(profit[part]))}`)
    .join(', ')}`;
