/** Page of a fitted fill model: verdict, reliability diagram, scores, parameters and hypotheses. */
import {
  durationText,
  html,
  NO_HTML,
  pageWith,
  percent,
  placesOf,
  rowsTable,
  section,
  THEME_BUTTON,
  type PageParts,
  type Plot,
} from '../../src/pages/index.ts';
import type { FittedReport, HeldOutFills } from './fittedReport.ts';
import { fittedWords, parameterRows, SCORE_HEAD, scoreRows } from './fittedText.ts';

/** Returns a self-contained HTML file. */
export function fittedPage(report: FittedReport, parts: PageParts): string {
  const { book, heldOut, hypotheses, fallback } = report;
  const title = `Fitted fills: ${book}`;
  const plot = heldOut === null ? null : reliabilityPlot(heldOut);
  const [verdict = '', ...notes] = fittedWords(report);
  const body = html`<header>
      <h1>${title}</h1>
      ${THEME_BUTTON}
    </header>
    <p class="verdict">${verdict}</p>
    ${notes.map(note => html`<p>${note}</p>`)}
    ${
      plot === null
        ? NO_HTML
        : section(
            'Reliability',
            html`${placesOf([plot])}
              <p class="soft">
                Orders of the last third in groups by their predicted probability. On the diagonal, prediction and
                observation are equal. Bars are 95% intervals.
              </p>`,
          )
    }
    ${heldOut === null ? NO_HTML : section('Scores on the last third', rowsTable(SCORE_HEAD, scoreRows(heldOut)))}
    ${fallback === null ? section('Parameters', rowsTable(['parameter', 'share', 'standard error'], parameterRows(report))) : NO_HTML}
    ${section(
      'Hypotheses',
      rowsTable(
        ['cancels', 'times the displayed lots', 'times own lots', 'weight'],
        hypotheses.map(({ cancels, shown, own, weight }) => [cancels, String(shown), String(own), percent(weight)]),
      ),
    )}`;
  return pageWith({ title, body, plots: plot === null ? [] : [plot], parts });
}

/** Returns the reliability diagram of the fitted model; `null` if no horizon has enough orders. */
function reliabilityPlot({ models }: HeldOutFills): Plot | null {
  const reliability = models.find(({ model }) => model === 'fitted')?.reliability ?? null;
  if (reliability === null) return null;
  const { groups, horizonMs } = reliability;
  // The diagonal goes from 0 to 1, beyond the first and the last group.
  const values = [0, ...groups.map(({ predicted }) => predicted), 1];
  const padded = <T>(inner: readonly T[]): readonly (T | null)[] => [null, ...inner, null];
  return {
    ...{ id: 'reliability', title: 'Reliability of the fitted model', shades: [], group: null },
    x: { kind: 'number', values, label: `predicted share filled within ${durationText(horizonMs / 1_000)}` },
    y: { label: 'observed share', range: [0, 1] },
    lines: [
      { label: 'prediction', colour: 'soft', style: 'dashed', values },
      {
        ...{ label: 'observed', colour: 'ink', style: 'dots' },
        values: padded(groups.map(({ observed }) => observed)),
        errors: padded(groups.map(({ margin }) => margin)),
      },
    ],
  };
}
