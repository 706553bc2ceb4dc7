/** Public interface of this layer: building blocks of pages that open from disk. */
export {
  durationText,
  gainText,
  minuteText,
  moneyDigits,
  numberOr,
  numberText,
  percent,
  secondsOr,
  short,
  shortOrNull,
  sumText,
} from './digits.ts';
export { columns } from './columns.ts';
export { html, NO_HTML, textOfHtml } from './html.ts';
export type { Html } from './html.ts';
export {
  folded,
  headRow,
  pageWith,
  placesOf,
  PLOT_ADVICE,
  rangeOf,
  rowsTable,
  section,
  stacked,
  table,
  tableRow,
  factsTable,
  THEME_BUTTON,
} from './pageFrame.ts';
export type { PageParts } from './pageFrame.ts';
export { textTable, WIDTH } from './textTable.ts';
export type { Heads } from './textTable.ts';
export type { Line, Plot } from './script/plot.ts';
