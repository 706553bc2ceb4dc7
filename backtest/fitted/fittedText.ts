/** Sentences and tables of a fitted fill model, for the terminal and for its page. */
import { counted } from '../../src/core/index.ts';
import { columns, percent } from '../../src/pages/index.ts';
import type { FittedReport, HeldOutFills } from './fittedReport.ts';

/** Returns the verdict, then sentences about its data. */
export function fittedWords({ book, fills, orders, unused, fallback, heldOut }: FittedReport): readonly string[] {
  const data = `${book}: ${counted(fills, 'filled order')} of ${counted(orders, 'order')}; ${unused} not used, because they never rested or the recording does not show all of their life.`;
  const verdict =
    fallback === null
      ? `The fitted model predicts the fills of the last third better than the three other models.`
      : `No fit: ${fallback}. The model fitted works like expected.`;
  return [verdict, data, ...(heldOut === null ? [] : [gainText(heldOut)])];
}

function gainText({ gain: { over, value, low, high } }: HeldOutFills): string {
  const interval = low === null || high === null ? '' : ` (95%: ${signedText(low)} to ${signedText(high)})`;
  return `Log-likelihood per order against ${over}, the best other model: ${signedText(value)}${interval}.`;
}

const signedText = (x: number): string => `${x < 0 ? '-' : '+'}${Math.abs(x).toFixed(4)}`;

export const SCORE_HEAD = ['model', 'log-likelihood', 'Brier score', 'C-index', 'calibration error'] as const;

/** Returns a row for each model: log-likelihood per order, integrated Brier score, C-index and calibration error. */
export const scoreRows = ({ models }: HeldOutFills): readonly (readonly string[])[] =>
  models.map(({ model, logLikelihood, brier, cIndex, reliability }) => [
    model,
    logLikelihood.toFixed(4),
    brier === null ? '-' : brier.toFixed(5),
    cIndex === null ? '-' : cIndex.toFixed(3),
    reliability === null ? '-' : percent(reliability.error),
  ]);

/** Returns a row for each parameter with its standard error. */
export const parameterRows = ({ parameters }: FittedReport): readonly (readonly string[])[] =>
  parameters.map(({ name, value, error }) => [name, percent(value), error === null ? '-' : percent(error)]);

/** Returns all lines for the terminal. */
export function fittedLines(report: FittedReport): readonly string[] {
  const { heldOut, parameters } = report;
  return [
    ...fittedWords(report),
    ...(heldOut === null
      ? []
      : [
          '',
          `last third: ${counted(heldOut.fills, 'filled order')} of ${heldOut.orders}`,
          ...columns([[...SCORE_HEAD], ...scoreRows(heldOut)]),
        ]),
    ...(parameters.length === 0
      ? []
      : ['', ...columns([['parameter', 'share', 'standard error'], ...parameterRows(report)])]),
  ];
}
