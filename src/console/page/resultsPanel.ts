/** Panel of the results of each configuration, so that the effect of a change can be judged. */
import { div, h, none, small, signedSum, type Node } from './elements.ts';
import { clockOf, fixed, stamp, tone, withSign } from './texts.ts';
import type { ConfigResult, LongHistory } from './view.ts';

/** Number of hexadecimal digits of a digest that are shown; the tooltip has all. */
const DIGEST_SHOWN = 8;

/** Returns the panel; `isPast` if the page shows a past time. */
export function resultsPanel(long: LongHistory | null, minor: string, isPast: boolean): Node {
  if (isPast) return none('results are only in the live view');
  if (long === null) return none('no results yet; they need the first entry of the ledger');
  return [
    h(
      'p',
      { class: 'soft' },
      `In ${minor}, net of fees. Rates have their 95% interval; the market differs too, so compare several days.`,
    ),
    ...long.missing.map(sentence => h('p', { class: 'soft' }, sentence)),
    h('ul', { class: 'lines scroll results' }, ...[...long.results].reverse().map(resultLine)),
  ];
}

function resultLine(result: ConfigResult): Node {
  const { change, from, hours, net, fills, volume, perHour, interval, perVolumeBps } = result;
  const figure = (name: string, ...value: Node[]) => small('figure', small('soft', `${name} `), ...value);
  const range = interval && ` (${withSign(interval.low, 2)} to ${withSign(interval.high, 2)})`;
  return h(
    'li',
    { key: from },
    h('b', null, `${stamp(from).slice(0, 10)} ${clockOf(from)} `, change === null ? 'opening of the ledger' : change.text),
    change === null ? null : div('soft', ...sourceOf(change)),
    hours === null || net === null
      ? div('soft', 'no profit was stored with this configuration')
      : div(
          '',
          figure('net', signedSum(net)),
          figure('quoted', `${fixed(hours, 1)} h`),
          figure('fills', fills === null ? '–' : String(fills)),
          figure('volume', fixed(volume, 0)),
          figure('per hour', perHour === null ? '–' : small(tone(perHour), withSign(perHour, 2)), small('soft', range)),
          figure(
            'per volume',
            perVolumeBps === null ? '–' : small(tone(perVolumeBps), `${withSign(perVolumeBps, 2)} bps`),
          ),
          change === null ? null : figure('against before', ...comparisonOf(result)),
        ),
  );
}

const sourceOf = ({ by, reason, digest, run }: NonNullable<ConfigResult['change']>): readonly Node[] => [
  reason === null ? 'reason not stored' : by === null ? reason : `${by}: ${reason}`,
  run === null ? '' : `, run ${run}`,
  digest === null ? '' : h('span', { title: digest }, `, file ${digest.slice(0, DIGEST_SHOWN)}`),
];

/** Compares the profit per hour with that of the previous configuration. */
function comparisonOf({ difference }: ConfigResult): readonly Node[] {
  if (difference === null) return ['too few hours'];
  const { value, low, high } = difference;
  const range = small('soft', ` per hour (${withSign(low, 2)} to ${withSign(high, 2)})`);
  const word = low > 0 ? 'better' : high < 0 ? 'worse' : 'no clear difference';
  return [small(low > 0 ? 'gain' : high < 0 ? 'loss' : '', `${word}, ${withSign(value, 2)}`), range];
}
