/** A backtest in a few plain sentences: whether it made money, under which fill model, what that rests on, and what speaks against it. */
import type { BacktestReport, ReplayReport } from './report.ts';

const FEW_FILLS = 30;
/** More than this share is most of it. */
const MOSTLY = 0.6;
const MARKOUT_SECONDS = 60;

/** Paragraphs of plain text. */
export function verdictOf(report: BacktestReport): readonly string[] {
  const main = mainOf(report.models);
  if (main === null) return ['No fill model was run.'];
  return [
    [result(report, main), judgement(report.models)].join(' '),
    ...(main.fills > 0 ? [[grounds(report, main), afterFills(main)].filter(Boolean).join(' ')] : []),
    [...cautions(report, main), 'Not in these numbers: what others would have done because of our orders.'].join(' '),
  ];
}

/** The model that the sentences are about: the expected one, or the first; null of none. */
export function mainOf(models: readonly ReplayReport[]): ReplayReport | null {
  return models.find(({ model }) => model === 'expected') ?? models[0] ?? null;
}

function result(report: BacktestReport, main: ReplayReport): string {
  const others = report.models.filter(other => other !== main);
  const started = `In ${durationText(main.seconds)} of ${report.book}, from ${minuteText(main.from)} to ${minuteText(main.to)} UTC, the strategy ${report.strategy}`;
  const outcome = (model: ReplayReport): string => {
    if (model.fills === 0) return 'traded nothing';
    const sum = moneyText(model.pnl.total, report.minor);
    const fills = model.fills === 1 ? '1 fill' : `${model.fills.toLocaleString('en-US')} fills`;
    if (Number(model.pnl.total) === 0) return `came out even with ${fills}`;
    return `${Number(model.pnl.total) > 0 ? 'made' : 'lost'} ${sum} with ${fills}`;
  };
  const beside = others.map(model => `under ${nameOf(model)} it ${outcome(model)}`);
  return `${started} ${outcome(main)} under ${nameOf(main)}${beside.length > 0 ? `; ${beside.join(', and ')}` : ''}.`;
}

const nameOf = ({ model }: ReplayReport): string =>
  model === 'optimistic' ? 'the optimistic bound (every touch fills)' : `the ${model} fill model`;

function judgement(models: readonly ReplayReport[]): string {
  if (models.every(({ fills }) => fills === 0)) return 'Nothing can be said about its profit.';
  const honest = models.filter(({ model }) => model !== 'optimistic');
  const gains = (list: readonly ReplayReport[]): number => list.filter(({ pnl }) => Number(pnl.total) > 0).length;
  if (gains(models) === 0) return 'It made money under none of them.';
  if (honest.length === 0) return 'That bound is no estimate: run an honest model beside it.';
  if (gains(honest) === 0) return 'It made money only where every touch fills, and no market gives that.';
  if (gains(honest) < honest.length) return 'Whether it makes money hangs on its place in the queue.';
  return gains(models) === models.length && models.length > 1 ? 'It made money under every one of them.' : '';
}

function grounds({ minor }: BacktestReport, main: ReplayReport): string {
  const { model, pnl, hedges } = main;
  const [spread, inventory, fees] = [Number(pnl.spread), Number(pnl.inventory), Number(pnl.fees)];
  const parts = [
    `against the middle of the market its fills ${spread >= 0 ? 'captured' : 'gave away'} ${moneyText(pnl.spread, minor)}`,
    `what it held then ${inventory >= 0 ? 'gained' : 'lost'} ${moneyText(pnl.inventory, minor)} as the market moved`,
    fees > 0 ? `rebates brought ${moneyText(pnl.fees, minor)}` : `fees took ${moneyText(pnl.fees, minor)}`,
  ];
  return `In the ${model} run ${parts.join(', ')}; ${hedgesText(hedges, minor)}.${whyHeld(main)}`;
}

function hedgesText(hedges: ReplayReport['hedges'], minor: string): string {
  if (hedges === null) return 'nothing was hedged';
  const { completed, cost, costBps } = hedges;
  if (completed === 0) return 'no hedge was carried out';
  const paid = Number(cost) >= 0 ? 'cost' : 'brought';
  const each = costBps === null ? '' : `, ${bpsText(Math.abs(costBps))} bps of what left`;
  return `${completed} ${completed === 1 ? 'hedge' : 'hedges'} ${paid} ${moneyText(cost, minor)}${each}`;
}

/** Where most of the result is the inventory's: whether it went within a minute of the fills, or as the market drifted. */
function whyHeld({ pnl, markouts, volume }: ReplayReport): string {
  const inventory = Number(pnl.inventory);
  const quoting = Math.abs(Number(pnl.spread) + Number(pnl.fees));
  if (!(Math.abs(inventory) > MOSTLY * (quoting + Math.abs(inventory)))) return '';
  const all = markouts.find(({ side }) => side === null);
  const [edge, later] = [all?.bps[0] ?? null, all?.bps[all.seconds.indexOf(MARKOUT_SECONDS)] ?? null];
  const soon = edge === null || later === null ? 0 : ((later - edge) / 10_000) * Number(volume.minor);
  if (inventory < 0 && soon < MOSTLY * inventory)
    return ' Most of that loss came within a minute of the fills: those who traded with it knew better where the market would go.';
  return ' Most of the result is the market moving while something was held: it says more about the direction of this market than about the quotes.';
}

function afterFills({ markouts, feesBps }: ReplayReport): string {
  const all = markouts.find(({ side }) => side === null);
  const at = all?.seconds.indexOf(MARKOUT_SECONDS) ?? -1;
  const mean = all?.bps[at] ?? null;
  const error = all?.errorBps[at] ?? null;
  if (mean === null || feesBps === null) return '';
  const spread = error === null ? '' : ` (standard error ${bpsText(error)})`;
  const net = mean - feesBps;
  const certain = error !== null && Math.abs(net) > 2 * error;
  return `A minute after a fill, the market stood ${bpsText(Math.abs(mean))} bps ${mean >= 0 ? 'in its favour' : 'against it'}${spread}, and the fee was ${bpsText(feesBps)} bps: a fill was ${net >= 0 ? 'worth' : 'a loss of'} ${bpsText(Math.abs(net))} bps${certain ? '' : ', less than two standard errors'}.`;
}

/** Quotes that were missing for longer than this are worth a sentence. */
const QUOTED_LEAST = 0.9;

function cautions({ models, tape, latencyMs }: BacktestReport, main: ReplayReport): string[] {
  const halted = models.filter(({ haltedBecause }) => haltedBecause !== null);
  const gapSeconds = tape.gaps.reduce((sum, gap) => sum + (gap.to - gap.from) / 1000, 0);
  const pessimistic = models.find(({ model }) => model === 'pessimistic');
  const same =
    pessimistic !== undefined && main.model === 'expected' && pessimistic.fills > 0 && sameFills(pessimistic, main);
  return [
    ...halted.map(({ model, haltedBecause }) => `The ${model} run halted itself before the end: ${haltedBecause}.`),
    ...(main.fills > 0 && main.fills < FEW_FILLS ? [`With ${main.fills} fills little can be concluded.`] : []),
    ...silence(main),
    ...(same
      ? ['Pessimistic and expected agree to the last fill: nobody stood before our orders where they filled.']
      : []),
    ...(gapSeconds > 0 ? [`The recording misses ${durationText(gapSeconds)}.`] : []),
    Number(latencyMs) >= 0 ? `Requests took ${latencyMs} ms each way.` : `Latencies of requests: ${latencyMs}.`,
  ];
}

function silence({ uptime, missing }: ReplayReport): string[] {
  if (Math.min(uptime.bid, uptime.ask) >= QUOTED_LEAST) return [];
  const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
  const reason = missing[0] === undefined ? '' : `, most often for this reason: ${missing[0].reason}`;
  return [
    `It had a bid in the market for ${percent(uptime.bid)} of the time and an ask for ${percent(uptime.ask)}${reason}.`,
  ];
}

const sameFills = (a: ReplayReport, b: ReplayReport): boolean =>
  a.fills === b.fills && a.volume.minor === b.volume.minor && a.pnl.total === b.pnl.total;

/** Without its sign, to about six digits. */
function moneyText(text: string, currency: string): string {
  return `${numberText(Math.abs(Number(text)))} ${currency}`;
}

/** About six digits, never in powers of ten. */
export function numberText(x: number): string {
  const whole = Math.abs(x) >= 1 ? Math.floor(Math.log10(Math.abs(x))) + 1 : 1;
  return x.toLocaleString('en-US', { maximumFractionDigits: Math.max(0, Math.min(8, 6 - whole)) });
}

const bpsText = (bps: number): string => bps.toLocaleString('en-US', { maximumFractionDigits: 2 });
const minuteText = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

/** From seconds: `90 s` below two minutes, then `5 min`, `1 h 30 min`, from two days on `2 d 3 h`. Rounded; hours beside days downwards. */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${numberText(Number(seconds.toPrecision(3)))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
