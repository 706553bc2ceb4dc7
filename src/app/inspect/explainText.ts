/** Text of `puntas explain`: regime, fair value, and each level with the steps that add up to its price, in ticks. */
import type { Step } from '../../core/index.ts';
import { hedgeComparisonText } from '../../hedge/index.ts';
import { timeText } from '../../messages/timeText.ts';
import type { ExplainedLevel, ExplainedSource, Explanation } from './explain.ts';

/**
 * Returns the lines of an explanation. Ticks have at most two decimals, and figures of a model have four digits; prices
 * and amounts are exact.
 */
export function explanationText(of: Explanation): string {
  const { market, inventory, fair, refusal, note, difference } = of;
  return [
    `${of.book}, ${of.strategy}, run ${of.run}, as of ${timeText(of.at)}${of.decidedAt === null ? '' : ` (last decision at ${timeText(of.decidedAt)})`}`,
    ...(note === null ? [] : [`note: ${note}`]),
    ...(difference === null
      ? []
      : [
          `DIFFERENT: this version of Puntas decides differently from the recording, and the replay stops at the first difference (${difference})`,
        ]),
    `regime: ${of.regime.regime} since ${Number.isFinite(of.regime.since) ? timeText(of.regime.since) : 'the start'}: ${of.regime.why}`,
    ...of.changes.slice(-6, -1).map(({ regime, since, why }) => `  before: ${regime} since ${timeText(since)}: ${why}`),
    `market: bid ${market.bid ?? 'none'}, ask ${market.ask ?? 'none'}${market.bookAgeMs === null ? ', book not read yet' : `, book ${(market.bookAgeMs / 1000).toFixed(1)} s old`}`,
    fair === null
      ? 'fair value: none'
      : `fair value in ticks of ${of.tick}: ${ticksText(fair.ticks)}${fair.steps.length > 1 ? ` = ${sumText(fair.steps)}` : ` (${fair.steps[0]?.name ?? ''})`}`,
    ...of.sources.map(sourceText),
    `inventory: ${inventory.fromTarget} ${inventory.currency} from its target (limit ${inventory.max}); holdings: ${Object.entries(
      inventory.holdings,
    )
      .map(([currency, sum]) => `${sum} ${currency}`)
      .join(', ')}`,
    ...(of.figures.length === 0
      ? []
      : [
          `model: ${of.figures.map(({ name, value, unit }) => `${name} ${Number(value.toPrecision(4))} ${unit}`.trim()).join(', ')}`,
        ]),
    ...of.smallestSizes,
    ...(refusal === null ? [] : [`not quoting: ${refusal}`]),
    ...of.levels.map(levelText),
    ...of.hedges.map(
      ({ at, state, amount, why, weighed }) =>
        `hedge at ${timeText(at)}: ${amount} ${inventory.currency}, ${state}${why === null ? '' : `, ${why}`}; ${hedgeComparisonText(weighed)}`,
    ),
  ].join('\n');
}

function sourceText({ name, notUsed, price, ageMs, lagMs, basisBps, basisErrorBps }: ExplainedSource): string {
  const parts = [
    ...(notUsed === null ? [] : [`not used: ${notUsed}`]),
    ...(price === null ? [] : [price]),
    ...(ageMs === null ? [] : [`age ${(ageMs / 1_000).toFixed(1)} s`]),
    ...(lagMs === null ? [] : [`lag ${Math.round(lagMs)} ms`]),
    ...(basisBps === null || basisErrorBps === null
      ? []
      : [`basis ${basisBps.toFixed(1)} ± ${basisErrorBps.toFixed(1)} bps`]),
  ];
  return `source ${name}: ${parts.join(', ')}`;
}

function levelText({ side, level, decision, reason, detail, price, amount, steps, order }: ExplainedLevel): string {
  const what = level === null ? side : `${side} ${level}`;
  const words = detail === null ? reason : detail.startsWith(reason) ? detail : `${reason} (${detail})`;
  const of = price === null ? '' : `  ${amount ?? ''} at ${price}`;
  const own =
    order === null
      ? ''
      : `; order ${order.id} of ${order.remaining} at ${order.price}, ${order.then}${order.now === order.then ? '' : ` at the decision, now ${order.now}`}`;
  const sum = steps.length === 0 ? '' : `\n      ${ticksText(ticksTogether(steps))} = ${sumText(steps)}`;
  return `  ${what}: ${decision}: ${words}${of}${own}${sum}`;
}

const ticksTogether = (steps: readonly Step[]): number => steps.reduce((sum, step) => sum + step.ticks, 0);
const ticksText = (of: number): string => String(Number(of.toFixed(2)));
const sumText = (steps: readonly Step[]): string =>
  steps
    .map(({ name, ticks: of }, i) =>
      i === 0 ? `${name} ${ticksText(of)}` : `${of < 0 ? '-' : '+'} ${name} ${ticksText(Math.abs(of))}`,
    )
    .join(' ');
