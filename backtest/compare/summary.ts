/** Summary of a comparison in a few sentences. */
import { counted } from '../../src/core/index.ts';
import { excludesZero } from '../report/interval.ts';
import { mainModel, type ComparedModel, type ComparedRun, type Comparison } from './comparison.ts';
import { botsOf, tiersOf } from './plots.ts';

type Ran = { readonly run: ComparedRun; readonly main: ComparedModel };

/** Returns the summary as paragraphs of plain text. */
export function comparisonWords(comparison: Comparison): readonly string[] {
  const { tapes, models } = comparison;
  const bots = botsOf(comparison);
  const ran = tapes.flatMap(({ runs }) =>
    runs.flatMap((run): Ran[] => {
      const main = mainModel(run.models);
      return main === null || run.unscored !== null || run.declined !== null ? [] : [{ run, main }];
    }),
  );
  const declined = tapes.flatMap(({ runs }) => runs.filter(run => run.declined !== null && run.unscored === null));
  if (ran.length + declined.length === 0) return ['No bot could be run and scored; the table rows give the reasons.'];
  const crossed = tapes.filter(({ runs }) => runs.some(({ unscored }) => unscored !== null)).map(({ name }) => name);
  const notRun = [
    ...new Set(
      tapes.flatMap(({ runs }) =>
        runs.filter(run => run.notRun !== null && run.declined === null).map(run => run.name),
      ),
    ),
  ];
  return [
    [
      `${counted(bots.length, 'bot')} on ${counted(tapes.length, 'recording')}, under ${counted(models.length, 'fill model')}.`,
      ...tiersOf(comparison).map(tier =>
        outcome(
          tier,
          ran.filter(({ run }) => run.tier === tier),
          declined.filter(run => run.tier === tier).length,
        ),
      ),
    ]
      .filter(Boolean)
      .join(' '),
    verdictsText(tapes),
    [groundsText(tiersOf(comparison)[0] ?? '', ran), differences(ran), agreement(ran, models)]
      .filter(Boolean)
      .join(' '),
    [
      'A recording is one market on one day. Over so few hours, the direction of the market matters more than the strategy. A difference smaller than the range of the fill models means nothing.',
      crossed.length > 0
        ? `These recordings have no score, because their books were crossed for too long: ${crossed.join(', ')}.`
        : '',
      notRun.length > 0
        ? `These bots could not run on every recording: ${notRun.join(', ')}; the table rows give the reasons.`
        : '',
      "These numbers do not include reactions of other traders to the bot's orders.",
    ]
      .filter(Boolean)
      .join(' '),
  ].filter(paragraph => paragraph !== '');
}

/**
 * Returns a sentence that counts the runs that made or lost money. Only runs whose interval excludes zero count as
 * gains or losses.
 */
function outcome(tier: string, ran: readonly Ran[], declined: number): string {
  if (ran.length === 0)
    return declined === 0
      ? ''
      : `At the ${tier} tier, the advice for all ${counted(declined, 'run')} was not to quote.`;
  const filled = ran.filter(({ main }) => main.fills > 0);
  const sure = filled.filter(({ main }) => excludesZero(main.netInterval));
  const gained = sure.filter(({ main }) => Number(main.pnl.total) > 0).length;
  const fees = [...new Set(ran.map(({ run }) => run.feeBps))].sort((a, b) => a - b);
  const texts = fees.map(bps => String(Number(bps.toPrecision(4))));
  const range = texts.length > 2 ? `${texts[0]} to ${texts.at(-1)}` : texts.join(' or ');
  const none = ran.length - filled.length;
  const rest = filled.length - sure.length;
  return [
    `At the ${tier} tier (maker fee ${range} bps), ${gained === 0 ? 'none' : String(gained)} of ${counted(ran.length + declined, 'run')} made money, ${sure.length - gained} lost money`,
    ...(declined > 0 ? [`${declined} were advised not to quote`] : []),
    ...(rest > 0 ? [`${rest} had a net not significantly different from zero (95%)`] : []),
    ...(none > 0 ? [`${none} had no fill`] : []),
  ]
    .join(', ')
    .concat('.');
}

/**
 * Returns a sentence about the verdicts at the exchange's lowest fee: how many advise to quote or not to quote, and how
 * many are contradicted by the rest of the recording.
 */
function verdictsText(tapes: Comparison['tapes']): string {
  const verdicts = tapes.flatMap(({ verdicts: [best] }) => best ?? []);
  if (verdicts.length === 0) return '';
  const told = (quote: boolean): string => {
    const all = verdicts.filter(verdict => verdict.quote === quote);
    const [wrong, silent] = [
      all.filter(({ right }) => right === false).length,
      all.filter(({ right }) => right === null).length,
    ];
    const unknown = silent > 0 ? `, and is too short to judge the advice in ${silent}` : '';
    return `${quote ? 'quoting' : 'not quoting'} on ${counted(all.length, 'recording')} (at 95% confidence, the later part contradicts this advice in ${wrong}${unknown})`;
  };
  return `At the best fee of the exchange, the first parts of the recordings advise ${told(true)}, and ${told(false)}.`;
}

/**
 * Returns a sentence that counts the runs whose net differs significantly from the net of the first bot; empty without
 * runs to compare.
 */
function differences(ran: readonly Ran[]): string {
  const known = ran.flatMap(({ run }) => run.againstFirst?.interval ?? []);
  const apart = known.filter(excludesZero).length;
  return known.length === 0
    ? ''
    : `Over the same hours, the net of ${apart} of ${counted(known.length, 'run')} differs significantly from the net of the first bot.`;
}

const MARKOUT_SECONDS = 60;

/** Explains the result at one tier by the mean spread, price move and fee of its trades. */
function groundsText(tier: string, ran: readonly Ran[]): string {
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
  const after = weight > 0 ? `. A minute after a fill, ${oneDecimal(mean)} bps of the edge remained` : '';
  return `At the ${tier} tier, the net has these parts in bps of the traded value: edge of the fills over the mid price ${oneDecimal(bps('spread'))}, change in value of the inventory ${oneDecimal(bps('inventory'))}, and fees ${oneDecimal(bps('fees'))}${after}.`;
}

function agreement(ran: readonly Ran[], models: readonly string[]): string {
  if (!(models.includes('pessimistic') && models.includes('expected'))) return '';
  const traded = ran.filter(({ main }) => main.fills > 0);
  const same = traded.filter(({ run, main }) => {
    const other = run.models.find(({ model }) => model === 'pessimistic');
    return other?.fills === main.fills && other.pnl.total === main.pnl.total;
  }).length;
  return `The pessimistic and the expected model agree exactly in ${same} of ${counted(traded.length, 'run')} with fills${same * 2 > traded.length ? ". At a small tick size, no other order is ahead of the bot's orders, so the queue position does not matter" : ''}.`;
}

const oneDecimal = (x: number): string => (Math.abs(x) < 0.05 ? 0 : x).toFixed(1);
