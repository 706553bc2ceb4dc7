/**
 * Page of a study: its result in words, plots of the evidence for and against the best trial, and a table of all
 * trials.
 */
import { counted } from '../../../src/core/index.ts';
import {
  gainText,
  numberText,
  html,
  NO_HTML,
  folded,
  pageWith,
  placesOf,
  PLOT_ADVICE,
  section,
  headRow,
  table,
  factsTable,
  THEME_BUTTON,
  type Html,
  type PageParts,
} from '../../../src/pages/index.ts';
import { hedgeTapeText } from '../../hedged/hedgedBook.ts';
import { tuningFigures } from './plots.ts';
import type { TunedTrial, Tuning } from './tuning.ts';
import { tuningWords } from './summary.ts';
import { share } from './tuningVerdict.ts';

/**
 * Returns a self-contained HTML file: the chart library, its style and the script are embedded. Names and texts are
 * escaped.
 */
export function tuningPage(tuning: Tuning, parts: PageParts): string {
  const title = `Tuning ${tuning.strategy} on ${tuning.book}`;
  const figures = tuningFigures(tuning);
  const body = html`<header>
      <h1>${title}</h1>
      ${THEME_BUTTON}
    </header>
    ${tuningWords(tuning).map((paragraph, i) => html`<p class="${i === 0 ? 'verdict' : ''}">${paragraph}</p>`)}
    ${tiles(tuning)}
    <p class="soft">${PLOT_ADVICE}</p>
    ${figures.map(({ heading, how, plots }) =>
      section(
        heading,
        html`<p>${how}</p>
          ${placesOf(plots, plots.length > 3 ? 'row many' : 'row')}`,
      ),
    )}
    ${section('The best trials', trialTable(tuning, best(tuning)))} ${section('The study', studyTable(tuning))}
    ${folded('Every trial', trialTable(tuning, tuning.trials))}`;
  return pageWith({ title, body, plots: figures.flatMap(({ plots }) => plots), parts });
}

const TRIALS_SHOWN = 15;
const best = ({ trials, ranking, front, objectives }: Tuning): readonly TunedTrial[] =>
  (objectives.length > 1 ? front : ranking)
    .slice(0, TRIALS_SHOWN)
    .flatMap(number => trials.filter(one => one.number === number));

function tiles({ evidence, counts, holdout, minor, verdict }: Tuning): Html {
  const tile = (name: string, value: string, note: string): Html =>
    html`<div class="tile"><span class="soft">${name}</span><b>${value}</b><span class="soft">${note}</span></div>`;
  if (evidence === null) return NO_HTML;
  const { net, interval, deflated, pbo, paths } = evidence;
  const held =
    holdout === null
      ? []
      : [
          tile(
            'holdout net, fills valued at the mid price 60 s later',
            `${gainText(holdout.net, minor)} ${minor}`,
            `opened by ${holdout.by}`,
          ),
        ];
  return html`<div class="tiles">
    ${[
      tile('better than not trading', verdict.better ? 'yes' : 'no', verdict.words[0] ?? ''),
      tile(
        'best trial net, fills valued at the mid price 60 s later',
        `${gainText(net, minor)} ${minor}`,
        interval === null
          ? 'no interval'
          : `95%: ${gainText(interval.low, minor)} to ${gainText(interval.high, minor)}`,
      ),
      tile(
        'deflated Sharpe ratio',
        share(deflated.probability),
        `${counted(numberText(deflated.trials), 'configuration')} tried so far`,
      ),
      tile(
        'probability of overfitting',
        pbo === null ? '–' : share(pbo.value),
        'from combinatorially symmetric cross-validation',
      ),
      tile(
        'paths with a profit',
        `${paths.filter(x => x > 0).length} of ${paths.length}`,
        'purged combinatorial paths',
      ),
      tile(
        'trials',
        numberText(counts.done + counts.pruned + counts.refused),
        `${counts.pruned} stopped early, ${counts.refused} could not run`,
      ),
      ...held,
    ]}
  </div>`;
}

function studyTable(tuning: Tuning): Html {
  const { tapes, search, objectives, constraints, models, latenciesMs, startsAfterSeconds, hedge, segments } = tuning;
  const { study, made } = tuning;
  const span = (of: readonly [string, string]): string => `${of[0].slice(0, 19)}Z to ${of[1].slice(0, 19)}Z`;
  return factsTable([
    ['study', study],
    ...tapes.map(
      ({ name, market, digest, tuned, heldOut }) =>
        [
          name,
          [
            market,
            `digest ${digest.slice(0, 16)}`,
            tuned && `tuned on ${span(tuned)}`,
            heldOut && `held out ${span(heldOut)}`,
          ]
            .filter(Boolean)
            .join('; '),
        ] as const,
    ),
    [
      'search',
      `${search.algorithm}, seed ${search.seed}, ${counted(search.trials, 'trial')} in batches of ${search.batch}`,
    ],
    ['objectives', objectives.join(', ')],
    ['constraints', constraints.join('; ') || 'none'],
    ['fill models', `${models.join(', ')}; each measure is the worst value of these models`],
    ['latencies, ms', latenciesMs.join(', ')],
    ...(hedge === undefined ? [] : [['recording of the other exchange, for hedges', hedgeTapeText(hedge)] as const]),
    ['start delays in each segment, s', startsAfterSeconds.join(', ')],
    ['segments per tape', String(segments)],
    ['created with', `Puntas ${made.puntas}, Node ${made.node}`],
  ]);
}

function trialTable({ parameters, chosen }: Tuning, trials: readonly TunedTrial[]): Html {
  const measures = ['net60s', 'net', 'volume', 'fills', 'drawdown', 'inventoryMost', 'uptime'];
  const number = (x: number | null | undefined): string =>
    x === null || x === undefined ? '–' : numberText(Number(x.toPrecision(4)));
  const rows = trials.map(({ number: n, point, state, why, breaks, measures: found }) => {
    const note = why ?? (breaks.length > 0 ? `breaks ${breaks.join(', ')}` : '');
    return html`<tr>
      <th>${n === chosen ? html`<b>${n}</b>` : html`${n}`}</th>
      ${parameters.map(key => html`<td>${valueText(point[key])}</td>`)}
      ${measures.map(name => html`<td>${number(found?.[name])}</td>`)}
      <td class="text line soft">${state === 'done' ? note : `${state}: ${note}`}</td>
    </tr>`;
  });
  return html`<div class="dense">${table(headRow('trial', [...parameters, ...measures, 'note']), rows)}</div>`;
}

const valueText = (value: number | string | boolean | undefined): string =>
  value === undefined ? '–' : typeof value === 'number' ? String(Number(value.toPrecision(4))) : String(value);
