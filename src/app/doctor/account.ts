/** Doctor checks that need the API key: permissions, rules of the book, fees and balances. */
import {
  counted,
  describeTier,
  fundsFor,
  isCut,
  localRemedy,
  moneyOfAmount,
  moneyOfValue,
  needsOperator,
  ratePercent,
  reasonOfFailure,
  textOfMoney,
  textOfPrice,
  valueOf,
  type Instrument,
  type Money,
  type NormalizedLevel,
  type Price,
  type Side,
  type VenueClient,
  type VenueSection,
} from '../../core/index.ts';
import { externalReferenceOf, readsPerMinute, type Config } from '../../config.ts';
import type { Rules } from '../../live/rules.ts';
import { FeesTooHigh } from '../../wiring/usageError.ts';
import { pollShareOf, venueOf } from '../../wiring/venueRegistry.ts';
import type { PreviewNow } from './previewNow.ts';
import { finding, type Finding } from './finding.ts';

const { pass, warn, fail } = finding;

/**
 * Returns the findings about a key that can read. The permission to cancel is tested with a cancel of order 0 of run 0,
 * which never exists. Only the trial order tests the permission to place. The permission to withdraw is not tested.
 */
export async function keyFindings(
  client: VenueClient,
  instance: string,
  section: VenueSection = 'exchange',
): Promise<readonly Finding[]> {
  const id = await client.account?.id();
  const whose = id?.kind === 'done' ? `the key of account ${id.value}` : 'the key';
  const again = 'run puntas doctor again';
  const unread =
    id === undefined || id.kind === 'done'
      ? []
      : [warn('key', `the account number could not be read: ${reasonOfFailure(id)}`, id.remedy ?? again)];
  const canceled = await client.cancel({ originIds: [`${instance}-0-0`] });
  const withdrawals = warn(
    'withdrawals',
    'the API does not show whether the key may withdraw',
    'check at the exchange that the key has no permission to withdraw',
  );
  if (canceled.kind === 'done')
    return [
      pass('key', `${whose} may read and cancel; only --order tests the permission to place orders`),
      ...unread,
      withdrawals,
    ];
  if (canceled.kind === 'unknown')
    return [
      warn('key', `${whose} may read, but a test cancel had no answer (${canceled.reason})`, canceled.remedy ?? again),
      ...unread,
      withdrawals,
    ];
  const { code, message, meaning } = canceled;
  const todo = canceled.remedy ?? localRemedy(code, section) ?? again;
  const says = `${whose} may read, but a test cancel was rejected (${code}: ${message})`;
  return [meaning === 'person' ? fail('key', says, todo) : warn('key', says, todo), ...unread, withdrawals];
}

/**
 * Returns findings about the book's bounds on order amount and value, and about each level that these bounds or a limit
 * reject.
 */
export function bookFindings(
  { instrument: i }: Pick<Rules, 'instrument'>,
  { preview }: PreviewNow,
): readonly Finding[] {
  const check = 'book';
  const value = (sum: Parameters<typeof moneyOfValue>[1]) => `${textOfMoney(moneyOfValue(i, sum))} ${i.minor}`;
  const amount = (lots: Instrument['amountMin']) => `${textOfMoney(moneyOfAmount(i, lots))} ${i.major}`;
  const bounds = `${i.symbol}: tick size ${i.tick}, order amount ${amount(i.amountMin)} to ${amount(i.amountMax)}, order value ${value(i.valueMin)} to ${value(i.valueMax)}`;
  const refused = preview.refusals.filter(({ reason }) => !isCut(reason));
  const named = (all: typeof preview.refusals) =>
    all.map(({ side, index, reason }) => `${bidOrAsk(side)} ${index + 1}: ${reason}`).join('; ');
  const cut = preview.refusals.filter(({ reason }) => isCut(reason));
  const found = [
    refused.length > 0
      ? fail(check, `${bounds}; ${named(refused)}`, 'change strategy.amount, or the levels')
      : cut.length > 0
        ? warn(check, `${bounds}; ${named(cut)}`, 'lower strategy.amount')
        : pass(check, bounds),
  ];
  const { levels, refusal } = preview;
  const shown = levels.filter(({ verdict }) => verdict === 'would be placed').length;
  if (needsOperator(preview.unshown))
    found.push(fail('quotes', preview.emptySidesText ?? 'none', 'change the configuration key that the message names'));
  else if (preview.halt !== null)
    found.push(
      fail(
        'quotes',
        `the bot would halt immediately after its start: ${preview.halt}`,
        'fix the cause before you start the bot, because every start would halt again',
      ),
    );
  else if (preview.emptySidesText !== null)
    found.push(
      warn('quotes', preview.emptySidesText, 'check whether these levels are intended; puntas check shows each price'),
    );
  else if (refusal !== null)
    found.push(
      warn(
        'quotes',
        `no quote would be placed now: ${refusal}`,
        'run puntas doctor again; for a running bot, see puntas explain',
      ),
    );
  else
    found.push(
      pass('quotes', `${shown} of ${counted(levels.length, 'level')} would be placed now (puntas check shows them)`),
    );
  return found;
}

/**
 * Compares the amounts of all configured levels with the available balances. Amounts that other programs lock are not
 * available.
 */
export function balanceFindings({ preview, riskContext, uncounted, differences }: PreviewNow): readonly Finding[] {
  const { instrument: i } = riskContext;
  const levels = preview.levels.map(({ level }) => level);
  const others: Finding[] = [];
  if (uncounted.length > 0)
    others.push(
      warn(
        'inventory',
        `the quotes above do not count ${uncounted.map(({ text }) => text).join(', ')}, but a run does`,
        `${uncounted.map(({ remedy }) => remedy).join('; ')}; puntas ledger shows the amounts`,
      ),
    );
  if (differences.length > 0)
    others.push(
      warn(
        'inventory',
        `the balances differ from the ledger by ${differences.join(', ')} (balance minus ledger); a run does not quote until it knows the cause`,
        'if a bot runs on this state directory, this can be its latest trade, so look again; if none runs, you know the cause and no list shows it, book the amounts with puntas ledger adjust',
      ),
    );
  if (levels.length === 0)
    return [
      ...others,
      warn('balances', 'no level can be computed now, so the balances cannot be checked', 'run puntas doctor again'),
    ];
  const sides = (['buy', 'sell'] as const).map(side => {
    const of = levels.filter(level => level.side === side);
    const needed = of.reduce((sum, level) => sum + costOf(i, level), 0n) as Money;
    const funds = fundsFor(side, riskContext);
    const currency = side === 'buy' ? i.minor : i.major;
    const says = `${of.length} ${bidOrAsk(side)}${of.length === 1 ? ' needs' : 's need'} ${textOfMoney(needed)} ${currency}; the balance is ${textOfMoney(funds)} ${currency}`;
    const check = `${bidOrAsk(side)}s' money`;
    if (of.length === 0)
      return warn(
        check,
        `the strategy wants no ${bidOrAsk(side)} now; the balance is ${textOfMoney(funds)} ${currency}`,
        'see the finding on quotes',
      );
    if (needed <= funds) return pass(check, says);
    return fail(check, says, `deposit ${textOfMoney((needed - funds) as Money)} ${currency}, or lower strategy.amount`);
  });
  return [...others, ...sides];
}

const bidOrAsk = (side: Side): string => (side === 'buy' ? 'bid' : 'ask');
const costOf = (i: Instrument, { side, price, amount }: NormalizedLevel): Money =>
  side === 'sell' ? moneyOfAmount(i, amount) : moneyOfValue(i, valueOf(price, amount));

/** Returns findings about the fee tier, and about the spread of the first levels compared with two maker fees. */
export function feeFindings({ makerRate, tier }: Rules, { preview, riskContext }: PreviewNow): readonly Finding[] {
  const place = tier === null || tier === undefined ? `maker fee ${ratePercent(makerRate)}` : describeTier(tier);
  const found = [pass('fee tier', place)];
  const prices = (side: Side) =>
    preview.levels.filter(({ level }) => level.side === side).map(({ level }) => level.price);
  const [bid, ask] = [Math.max(...prices('buy')), Math.min(...prices('sell'))];
  if (!(Number.isFinite(bid) && Number.isFinite(ask))) return found;
  const apart = ((ask - bid) * 20_000) / (ask + bid);
  const fees = (2 * makerRate) / 10_000;
  const { instrument: i } = riskContext;
  const says = `bid ${textOfPrice(i, bid as Price)} and ask ${textOfPrice(i, ask as Price)} are ${apart.toFixed(1)} bps apart, and two maker fees take ${fees.toFixed(1)} bps, so a round trip earns ${(apart - fees).toFixed(1)} bps`;
  found.push(
    apart > fees
      ? pass('spread', says)
      : warn(
          'spread',
          says,
          'widen the spread, unless you accept this loss to gain volume (strategy.minEdgeBps below 0)',
        ),
  );
  return found;
}

/** Returns the findings if the quotes cannot earn the fees; no quotes can then be computed. */
export const feesTooHigh = ({ message, tier }: FeesTooHigh): readonly Finding[] => [
  ...(tier === null ? [] : [pass('fee tier', tier)]),
  fail('spread', message, 'widen the spread in the YAML, or trade at a better fee tier'),
];

/** Minimum number of times per minute that a bot must be able to replace all its quotes within the request budget. */
const MOVES_MIN = 6;

/**
 * Compares the request rates of polling and of orders with the exchange's limit. `configs`: the configuration of each
 * book; `levels`: number of quotes in all books; `null` if it is unknown.
 */
export function budgetFindings(configs: readonly Config[], levels: number | null): readonly Finding[] {
  const config = configs[0]!;
  const { budgets } = config.exchange;
  const { bookPollMs } = config.timing;
  const allows = venueOf(config).allows;
  const publicReads = Math.ceil(
    configs.reduce((sum, each) => sum + 60_000 / bookPollMs + readsPerMinute(externalReferenceOf(each)), 0),
  );
  const { texts, left } = pollShareOf(config, config.rfqReference ? 120_000 / config.rfqReference.everyMs : 0);
  const moves = left === null || levels === null || levels === 0 ? Infinity : Math.floor(left / levels);
  const orders =
    left === null
      ? ''
      : levels === null || levels === 0
        ? `, and ${left} remain for orders${levels === null ? ', whose number is not checked' : ''}`
        : `, and with the remaining ${left}, the bot can replace all ${counted(levels, 'quote')} ${counted(moves, 'time')} per minute`;
  const says = `polling takes ${texts.join(' and ')} per minute${orders}. Without a stream, polling takes ${publicReads} of ${counted(budgets.publicPerMinute, 'public request')} per minute`;
  const over = allows && (budgets.publicPerMinute > allows.public || budgets.privatePerMinute > allows.private);
  return [
    over
      ? fail(
          'requests',
          `exchange.budgets: ${budgets.publicPerMinute} public and ${counted(budgets.privatePerMinute, 'private request')} per minute; the exchange allows ${allows.public} public and ${counted(allows.private, 'private request')}`,
          'lower the budgets; a client that exceeds these limits is locked out by the exchange for a minute',
        )
      : moves < MOVES_MIN
        ? warn('requests', says, 'raise timing.privatePollMs or strategy.refreshToleranceBps, or quote fewer levels')
        : pass('requests', says),
  ];
}
