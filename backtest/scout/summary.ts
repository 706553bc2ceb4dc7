/** Summary of `puntas scout` in sentences, and formats of its numbers. */
import { counted } from '../../src/core/index.ts';
import { durationText, gainText, sumText } from '../../src/pages/index.ts';
import { wideHoursText } from '../../src/tape/index.ts';
import { bpsText } from '../profile/bpsText.ts';
import { quoteAnswer, hoursText } from '../profile/verdictWords.ts';
import { verdictDistance, type ScoutedBook, type Scouting } from './scouting.ts';

/** Formats a number with three significant digits and k, M or G; a dash if unknown. */
export function compact(x: number | null): string {
  if (x === null || !Number.isFinite(x)) return '–';
  const size = Math.abs(x);
  const step = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(1, Number(size.toPrecision(3)))) / 3)));
  const text = String(Number((x / 1_000 ** step).toPrecision(3)));
  // Tiny numbers are shown as 0, because `String` would format them in powers of ten.
  return size < 0.001
    ? '0'
    : `${text.includes('e') ? (x / 1_000 ** step).toFixed(0) : text}${['', 'k', 'M', 'G'][step] ?? ''}`;
}

/** Formats like `compact`, with a plus sign before a gain. */
export const signed = (x: number | null): string => `${x !== null && x > 0 ? '+' : ''}${compact(x)}`;

/**
 * Returns the currency in which books are compared, with the rate from the book's quote currency. If this rate is
 * unknown, returns the book's quote currency with the rate 1.
 */
export const shownIn = (
  book: ScoutedBook,
  currency: string | null,
): { readonly rate: number; readonly currency: string } =>
  book.rate === null || currency === null ? { rate: 1, currency: book.minor } : { rate: book.rate, currency };

const paying = ({ books }: Scouting): readonly ScoutedBook[] => books.filter(({ verdict }) => verdict.quote);

/**
 * Returns the summary as paragraphs of plain text. The first paragraph says whether quoting pays in any book, and which
 * book is best.
 */
export function scoutWords(scouting: Scouting): readonly string[] {
  const { books, hedged = [] } = scouting;
  if (books.length === 0)
    return [
      hedged.length === 0
        ? 'There was no data, so no book can be judged.'
        : 'Only quoting with a hedge was judged; quoting without a hedge needs a replay of orders, which these recordings do not allow.',
    ];
  const [best] = paying(scouting);
  return [
    best === undefined ? nothingPays(books) : pays(scouting, best),
    `${seenText(scouting)} ${feesText(scouting)}`,
    ...paying(scouting).flatMap(book => tierText(book, scouting.currency) ?? []),
    ...undecided(books),
    ...unrated(scouting),
    ...books.flatMap(({ name, wideHours }) =>
      wideHours === undefined ? [] : [`${name}: ${wideHoursText(wideHours)}`],
    ),
  ];
}

function pays(scouting: Scouting, best: ScoutedBook): string {
  const { books, currency } = scouting;
  const { verdict, name, capital, feeBps } = best;
  if (!verdict.quote) return '';
  const { rate, currency: shown } = shownIn(best, currency);
  const [value, low, high] = [verdict.netPerHour.value, verdict.netPerHour.low, verdict.netPerHour.high].map(x =>
    gainText(x * rate, shown),
  );
  const need = capital === null ? '' : `, with ${sumText(Math.round(capital * rate), shown)} ${shown} of capital`;
  return `Quoting is profitable in ${paying(scouting).length} of ${counted(books.length, 'book')}. Best: ${name}, ${bpsText(verdict.distanceBps)} bps from the mid price at a maker fee of ${bpsText(feeBps)} bps. Quoting at this distance earns ${value} ${shown} per hour (90%: ${low} to ${high})${need}.`;
}

function nothingPays(books: readonly ScoutedBook[]): string {
  const judged = books.filter(({ verdict }) => verdictDistance(verdict) !== null);
  const isKnown = books.every(book => quoteAnswer(book.verdict) === 'do not quote');
  const start = `Quoting is not ${isKnown ? '' : 'known to be '}profitable in any book: at these fees, no distance in ${books.length === 1 ? 'this book' : `any of these ${counted(books.length, 'book')}`} earns a profit with 95% confidence.`;
  const [nearest] = judged;
  if (nearest === undefined) return `${start} No book had enough trades to judge; observe for longer.`;
  const { name, feeBps, verdict } = nearest;
  const from = verdict.breakEvenFeeBps;
  const when =
    from === null
      ? 'would not be profitable at any fee in this data'
      : `would be profitable at a maker fee of ${bpsText(from)} bps or less; the assumed fee is ${bpsText(feeBps)} bps`;
  return `${start} The closest is ${name}, which ${when}.`;
}

/** Describes how long the books were recorded, without gaps. */
function seenText({ books, looked }: Scouting): string {
  const times = books.map(({ seconds }) => seconds).sort((a, b) => a - b);
  const [least, most] = [times[0] ?? 0, times.at(-1) ?? 0].map(durationText);
  return `Observed at ${looked}: ${least === most ? '' : `${least} to `}${most}${books.length > 1 ? ' of each book' : ''}.`;
}

/** Describes the assumed fees per quote currency. */
function feesText({ books, fees }: Scouting): string {
  const byMinor = new Map<string, Set<string>>();
  for (const { minor, feeBps } of books) byMinor.set(minor, (byMinor.get(minor) ?? new Set()).add(bpsText(feeBps)));
  const parts = [...byMinor].map(([minor, bps]) => `${[...bps].join(' or ')} bps in books quoted in ${minor}`);
  const asked = { config: "of the configuration's tier", best: 'of the best tier', entry: 'of the entry tier' }[fees];
  return `Maker fees ${asked ?? 'as set with --fees'}: ${parts.join(', ')}.`;
}

/** Describes the fee tier that a month of quoting reaches; `null` if its fee is the assumed fee. */
function tierText(book: ScoutedBook, compared: string | null): string | null {
  const { name, minor, feeBps, reached } = book;
  if (reached === null || Math.abs(reached.feeBps - feeBps) < 1e-6) return null;
  const { rate, currency } = shownIn(book, compared);
  return `${name}: a month of quoting at the best distance brings the 30-day volume to ${compact(reached.volume30d)} ${minor} and the maker fee to ${bpsText(reached.feeBps)} bps instead of ${bpsText(feeBps)} bps; the difference is worth ${gainText(reached.worthPerHour * rate, currency)} ${currency} per hour.`;
}

/** Maximum number of undecided books that the summary names. */
const NAMED_MAX = 5;

/** Describes the books whose verdict is not known yet, with the further hours until it is known, fewest first. */
function undecided(books: readonly ScoutedBook[]): readonly string[] {
  const open = books.flatMap(({ name, verdict }) =>
    verdict.quote || verdict.isKnown
      ? []
      : [{ hours: verdict.hoursMissing ?? Infinity, text: `${name} (${hoursText(verdict)})` }],
  );
  if (open.length === 0) return [];
  const named = open.sort((a, b) => (a.hours < b.hours ? -1 : a.hours > b.hours ? 1 : 0)).slice(0, NAMED_MAX);
  const others = open.length - named.length;
  return [
    `Not known yet, with the further hours that would decide at the profit seen so far: ${named.map(({ text }) => text).join(', ')}${others > 0 ? ` and ${counted(others, 'other book')}` : ''}.`,
  ];
}

function unrated({ books, currency }: Scouting): readonly string[] {
  const own = books.filter(({ rate }) => rate === null).map(({ name, minor }) => `${name} in ${minor}`);
  return own.length === 0
    ? []
    : [
        `Sums of these books are not converted to ${currency ?? ''}, because no book gives the exchange rate: ${own.join(', ')}.`,
      ];
}
