/** Flatten action, with which the hedger closes all inventory: estimate of the cost, and the request. */
import { money, moneyOf, textOfMoney, amountToHedge, compareRoutes, type Millis } from '../../core/index.ts';
import { isTrialOrder } from '../../config.ts';
import { bookRoute, hedgeInputsOf } from '../../hedge/index.ts';
import { flattenIn } from '../../live/safety/flatten.ts';
import { latchIn } from '../../live/safety/latch.ts';
import type { ReplayedMoment } from '../inspect/explain.ts';
import { lastConfigOf } from '../inspect/botOfFolder.ts';
import { lifeOf } from '../inspect/botLife.ts';
import { ownCommand, type WhichBot } from '../../messages/ownCommand.ts';
import { hedgePlanOf } from '../../wiring/bot.ts';
import { readConfig } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import type { FlattenAsk } from './actions.ts';

/**
 * Returns lines about the inventory beyond the target, and about the cost of closing it according to the last recorded
 * book. Prices of the RFQ desk are requested only when the action is executed.
 */
export function costOfFlatten({ engine, rules, setup }: ReplayedMoment, at: Millis): readonly string[] {
  const plan = hedgePlanOf(setup);
  if (plan === undefined) return [NO_HEDGER];
  const { major, minor } = rules.instrument;
  const view = hedgeInputsOf(engine, { ...rules, balancesAt: at }, at);
  const { inventory, mid, refusal } = view;
  if (inventory === 0n) return ['inventory is at its target; there is nothing to hedge'];
  const what = `${inventory > 0n ? textOfMoney(inventory) : textOfMoney(money(-inventory))} ${major}`;
  const venues = plan.venues.join(', ');
  const limits = `each hedge uses the cheapest route (${venues}) and costs at most ${plan.rules.costMaxBps} bps (hedge.costMaxBps); all hedges together cost at most --max-cost`;
  const beyond = `inventory is ${what} ${inventory > 0n ? 'above' : 'below'} its target`;
  const after = 'until you resume, the bot quotes only to reduce inventory';
  if (!plan.venues.includes('book'))
    return [
      beyond,
      `the cost of hedging is unknown now, because prices of the hedge routes (${venues}) are read only at execution`,
      limits,
      after,
    ];
  if (refusal !== null) return [`${beyond}; the cost of hedging is unknown: ${refusal}`, limits];
  const amount = amountToHedge(inventory, { ...plan.rules, band: money(0n), residual: money(0n) });
  const { out } = bookRoute(plan, true, view, amount);
  const [book] = compareRoutes(rules.instrument, amount, inventory, mid, [out], {
    ...plan.rules,
    costMaxBps: 10_000,
  }).compared;
  const cost =
    book === undefined || book.cost === null
      ? `the cost of hedging through the book is unknown now: ${book?.rejectedReason ?? 'no price'}`
      : `hedging all inventory through the book would now cost about ${textOfMoney(centsCeil(book.cost), 2)} ${minor} (${(book.bps ?? 0).toFixed(1)} bps), fee included`;
  return [beyond, cost, limits, after];
}

const CENT = 10n ** 16n;
const centsCeil = (sum: bigint) => money(-(-sum / CENT) * CENT + (sum > 0n && sum % CENT !== 0n ? CENT : 0n));

const NO_HEDGER =
  'this bot has no hedge section, so only fills of its quotes reduce inventory; to quote only the side that reduces inventory, use the action reduce';

/**
 * Requests that the hedger close all inventory, and makes the bot reduce-only. Returns the lines for the operator: the
 * effect, and any earlier request or halt.
 * @throws UsageError if the bot has no hedger, or if its configuration is unknown.
 */
export function flatten(bot: WhichBot, { id, by, reason, costMax }: FlattenAsk, at: Millis): readonly string[] {
  const dir = bot.stateDir;
  const life = lifeOf(dir, at).state;
  // A stopped bot reads the configuration file at its next start; a running bot uses its recorded configuration.
  const config = life === 'runs' || bot.configFile === undefined ? lastConfigOf(dir) : readConfig(bot.configFile);
  if (isTrialOrder(config))
    throw new UsageError(
      `${dir}: the recordings contain only trial orders of puntas doctor; pass the YAML file of the bot with -c FILE`,
    );
  if (config.hedge === undefined) throw new UsageError(NO_HEDGER);
  const [latch, file] = [latchIn(dir), flattenIn(dir)];
  const [halt, before] = [latch.read(), file.read()];
  // Reduce-only is set first, so that new quotes do not open inventory while the hedger closes it.
  latch.setReduce({ reason: `flatten: ${reason}`, at, by: 'person', who: by });
  // An identical request continues the earlier request: the costs so far count toward costMax, even if the earlier
  // command was killed.
  const isSame = before?.by === by && before.reason === reason && before.costMax === moneyOf(costMax);
  if (!isSame) file.set({ id, at, by, reason, costMax: moneyOf(costMax) });
  return [
    `${life === 'runs' ? 'the hedger now closes all inventory' : 'the bot is not running; after its next start, the hedger closes all inventory'}, at a total cost of at most ${textOfMoney(moneyOf(costMax))} in quote currency`,
    `the bot quotes only to reduce inventory until you run: ${ownCommand('resume', bot)}`,
    'to see the progress, run puntas hedges and puntas status',
    ...(before === null
      ? []
      : isSame
        ? ['this flatten was already requested; the costs of its earlier hedges count towards the maximum cost']
        : [
            `this flatten replaces the earlier flatten (${before.reason}), whose costs do not count towards the maximum cost`,
          ]),
    ...(halt === null
      ? []
      : [`trading is halted: Puntas hedges nothing until you resume, and a resume also cancels this flatten`]),
  ];
}
