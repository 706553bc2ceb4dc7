/** A comparison in a few plain sentences, and each bot's net in units of the risk that it was given. */
import { mainModel } from './comparison.ts';
import type { ComparedModel, ComparedRun, Comparison } from './comparison.ts';
import { botsOf, tiersOf } from './plots.ts';

/** By `bot tier`: the mean over the recordings that it ran on of net over what one deviation would have cost in the traded time; empty where no risk was given. */
export function scoresOf(comparison: Comparison): ReadonlyMap<string, number> {
  const { riskPerHour, tapes } = comparison;
  const scores = new Map<string, number>();
  if (riskPerHour === null) return scores;
  for (const tier of tiersOf(comparison))
    for (const bot of botsOf(comparison)) {
      const nets = tapes.flatMap(({ runs, seconds }) => {
        const main = mainModel(runs.find(run => run.name === bot && run.tier === tier)?.models ?? []);
        return main === null ? [] : [Number(main.pnl.total) / (Number(riskPerHour) * Math.sqrt(seconds / 3600))];
      });
      if (nets.length > 0) scores.set(`${bot} ${tier}`, nets.reduce((sum, net) => sum + net, 0) / nets.length);
    }
  return scores;
}

type Ran = { readonly run: ComparedRun; readonly main: ComparedModel };

/** Paragraphs of plain text. */
export function comparisonWords(comparison: Comparison): readonly string[] {
  const { tapes, models } = comparison;
  const bots = botsOf(comparison);
  const ran = tapes.flatMap(({ runs }) =>
    runs.flatMap((run): Ran[] => {
      const main = mainModel(run.models);
      return main === null ? [] : [{ run, main }];
    }),
  );
  if (ran.length === 0) return ['Nothing could be run: the rows below say why.'];
  const notRun = [
    ...new Set(tapes.flatMap(({ runs }) => runs.filter(run => run.notRun !== null).map(run => run.name))),
  ];
  return [
    [
      `${count(bots.length, 'bot')} on ${count(tapes.length, 'recording')}, under ${count(models.length, 'fill model')}.`,
      ...tiersOf(comparison).map(tier =>
        outcome(
          tier,
          ran.filter(({ run }) => run.tier === tier),
        ),
      ),
    ].join(' '),
    [grounds(tiersOf(comparison)[0] ?? '', ran), agreement(ran, models)].filter(Boolean).join(' '),
    [
      'These are the numbers as they are. A recording is one market on one day: with so few hours the direction of the market decides more than the strategy does, and a difference smaller than the range of the fill models means nothing.',
      notRun.length > 0 ? `Not run everywhere: ${notRun.join(', ')}; the rows say why.` : '',
      'Not in these numbers: what others would have done because of our orders.',
    ]
      .filter(Boolean)
      .join(' '),
  ].filter(paragraph => paragraph !== '');
}

function outcome(tier: string, ran: readonly Ran[]): string {
  const filled = ran.filter(({ main }) => main.fills > 0);
  const gained = filled.filter(({ main }) => Number(main.pnl.total) > 0).length;
  const fees = [...new Set(ran.map(({ run }) => run.feeBps))]
    .map(bps => String(Number(bps.toPrecision(4))))
    .join(' or ');
  const none = ran.length - filled.length;
  const silent = none === 0 ? '' : `, ${none} had no fill at all`;
  return `At the ${tier} tier (maker fee ${fees} bps) ${gained === 0 ? 'none' : String(gained)} of ${count(ran.length, 'run')} made money${silent}.`;
}

const MARKOUT_SECONDS = 60;

/** Over everything that was traded at one tier. */
function grounds(tier: string, ran: readonly Ran[]): string {
  const traded = ran.filter(({ run, main }) => run.tier === tier && main.fills > 0);
  const sum = (of: (main: ComparedModel) => number) => traded.reduce((total, { main }) => total + of(main), 0);
  const volume = sum(({ volume: { minor } }) => Number(minor));
  if (!(volume > 0)) return '';
  const bps = (part: 'spread' | 'inventory' | 'fees'): number => (1e4 * sum(({ pnl }) => Number(pnl[part]))) / volume;
  const later = traded.flatMap(({ main: { markouts, volume: v } }) => {
    const value = markouts.bps[markouts.seconds.indexOf(MARKOUT_SECONDS)] ?? null;
    return value === null ? [] : [[value, Number(v.minor)] as const];
  });
  const weight = later.reduce((total, [, v]) => total + v, 0);
  const mean = later.reduce((total, [value, v]) => total + value * v, 0) / weight;
  const after = weight > 0 ? `; a minute after a fill ${oneDecimal(mean)} bps of its edge were left` : '';
  return `Over everything that was traded at the ${tier} tier, in bps of its value: fills had an edge of ${oneDecimal(bps('spread'))} over the middle, what was held then brought ${oneDecimal(bps('inventory'))}, fees ${oneDecimal(bps('fees'))}${after}.`;
}

function agreement(ran: readonly Ran[], models: readonly string[]): string {
  if (!(models.includes('pessimistic') && models.includes('expected'))) return '';
  const traded = ran.filter(({ main }) => main.fills > 0);
  const same = traded.filter(({ run, main }) => {
    const other = run.models.find(({ model }) => model === 'pessimistic');
    return other?.fills === main.fills && other.pnl.total === main.pnl.total;
  }).length;
  return `Pessimistic and expected agree to the last unit in ${same} of ${count(traded.length, 'run')} with fills${same * 2 > traded.length ? ': where ticks are small nobody stands before our orders, and the place in the queue does not matter' : ''}.`;
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
const oneDecimal = (x: number): string => (Math.abs(x) < 0.05 ? 0 : x).toFixed(1);
