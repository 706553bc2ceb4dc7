/** Cells of the tables in a comparison's page. */
import { gainText, html, NO_HTML, type Html } from '../../src/pages/index.ts';
import { excludesZero, type Interval } from '../report/interval.ts';

/** Formats a 95% interval for the line below its number; empty if there is no interval. */
export const range = (of: Interval | null, currency: string): Html =>
  of === null
    ? NO_HTML
    : html`<br /><span class="soft"
          >${[of.low, of.high].map(end => (currency === '' ? signedGrouped(end, 2) : gainText(end, currency))).join(' … ')}</span
        >`;

/** Formats a profit, colored by sign if its interval excludes zero. */
export function coloredGain(total: string, interval: Interval | null, currency: string): Html {
  const sign = Number(total) > 0 ? 'gain' : 'loss';
  return html`<span class="${excludesZero(interval) ? sign : NO_HTML}">${gainText(total, currency)}</span>`;
}

/** Formats a difference from the first bot, with its interval below; a dash for `null`. */
export const againstText = (
  of: { readonly value: string | number; readonly interval: Interval | null } | null,
  currency: string,
): Html | string => (of === null ? '–' : html`${gainText(of.value, currency)}${range(of.interval, currency)}`);

/** Formats the lowest and the highest of several profits; a dash if there are none. */
export const extremesText = (nets: readonly number[], currency: string): string =>
  nets.length === 0 ? '–' : `${gainText(Math.min(...nets), currency)} … ${gainText(Math.max(...nets), currency)}`;

/** Formats a number with a fixed number of decimals and grouped digits. */
export const groupedNumber = (x: number, decimals: number): string =>
  (Math.abs(x) < 0.5 / 10 ** decimals ? 0 : x)
    .toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
    .replace('-', '−');

/** Formats a number like `groupedNumber`, with a plus sign if it is positive. */
export const signedGrouped = (x: number, decimals: number): string =>
  x >= 0.5 / 10 ** decimals ? `+${groupedNumber(x, decimals)}` : groupedNumber(x, decimals);
