/** Page of `puntas scout`: text, a table, plots, and the results of each book by distance. */
import {
  durationText,
  numberText,
  html,
  NO_HTML,
  pageWith,
  placesOf,
  PLOT_ADVICE,
  section,
  headRow,
  table,
  tableRow,
  factsTable,
  THEME_BUTTON,
  rangeOf,
  type Line,
  type Plot,
  type Html,
  type PageParts,
} from '../../src/pages/index.ts';
import { hedgedSection } from '../hedged/section.ts';
import { secondsText } from '../report/plots.ts';
import type { ScoutedBook, Scouting } from './scouting.ts';
import { bpsText } from '../profile/bpsText.ts';
import { quoteAnswer, missingText, type QuoteAnswer } from '../profile/verdictWords.ts';
import { scoutWords, shownIn } from './summary.ts';
import { togetherSection } from './togetherSection.ts';

/**
 * Returns a self-contained HTML file: the chart library, its style and the script are embedded. Names and texts of the
 * market are escaped.
 */
export function scoutPage(scouting: Scouting, parts: PageParts): string {
  const { books, currency } = scouting;
  const title = 'Where quoting pays';
  const across = books.length === 0 ? [] : [nets(scouting), fees(books)];
  const byDistance = books.flatMap((book, i) => netByDistance(book, i, currency) ?? []);
  const makers = books.flatMap((book, i) => makerPlot(book, i) ?? []);
  const hedged = hedgedSection(scouting.hedged ?? []);
  const body = html`<header>
      <h1>${title}</h1>
      ${THEME_BUTTON}
    </header>
    ${scoutWords(scouting).map((paragraph, i) => html`<p class="${i === 0 ? 'verdict' : ''}">${paragraph}</p>`)}
    <p class="soft">${PLOT_ADVICE}</p>
    ${hedged.body}
    ${
      books.length === 0
        ? NO_HTML
        : section(
            'The books',
            html`<div class="dense">${bookTable(scouting)}</div>
              <p class="soft">${HOW}</p>`,
          )
    }
    ${
      across.length === 0
        ? NO_HTML
        : section(
            'Comparison of the books',
            html`<p>
                The upper plot shows net profit per hour at the best distance, with a 90% interval that is simultaneous
                for all distances. In the lower plot, quoting a book can be profitable if the half-spread and the
                average maker's edge after a minute both exceed the fee.
              </p>
              ${across.map(plot => placesOf([plot]))}`,
          )
    }
    ${togetherSection(
      scouting.together,
      books.map(({ name }) => name),
    )}
    ${plotted(
      'Net by distance',
      `Net profit per hour, after fees, of orders at each distance from the mid price. The orders are re-pegged every ${secondsText(scouting.cadenceMs / 1_000)}. Bars are 95% confidence intervals, one per distance, computed from the edge that remains ${secondsText(scouting.horizonS)} after a fill.`,
      byDistance,
    )}
    ${plotted(
      'The average maker',
      'Mean edge (bps, weighted by value) that makers of public trades still had after the time on the x axis. Bars are one standard error. If this edge is below the fee (dashed line), makers lost money.',
      makers,
    )}
    ${
      scouting.leftOut.length === 0
        ? NO_HTML
        : section('Left out', factsTable(scouting.leftOut.map(({ what, why }) => [what, why])))
    }`;
  return pageWith({ title, body, plots: [...hedged.plots, ...across, ...byDistance, ...makers], parts });
}

const HOW =
  'Volatility: one standard deviation per hour. Average maker edge: edge that the maker of a trade still has a minute later, before fees. Highest profitable fee: highest maker fee at which quoting is profitable. Capital: ten orders per side. Fee after a month: maker fee after 30 days of quoting at the best distance; the second line is the change of the net per hour from this fee.';

const plotted = (heading: string, how: string, plots: readonly Plot[]): Html =>
  plots.length === 0
    ? NO_HTML
    : section(
        heading,
        html`<p>${how}</p>
          ${placesOf(plots, 'row many')}`,
      );

function bookTable(scouting: Scouting): Html {
  const { currency } = scouting;
  const rows = scouting.books.map(book => {
    const { verdict, capital, reached, maker } = book;
    const { rate } = shownIn(book, currency);
    const money = (x: number | null) => (x === null ? '–' : numberText(Number((x * rate).toPrecision(4))));
    const net = verdict.netPerHour;
    const gain = (x: number) => signedText(x * rate);
    const left = maker.find(({ seconds }) => seconds === 60);
    const distance = verdict.quote
      ? html`<b>${bpsText(verdict.distanceBps)}</b><br /><span class="soft"
            >${verdict.distanceInterval.map(bpsText).join(' to ')}</span
          >`
      : html`<span class="soft">${quoteAnswer(verdict)}</span>`;
    const cells = [
      html`${durationText(book.seconds)}`,
      html`${bpsText(book.halfSpreadBps)}`,
      html`${numberText(Number(book.tradesPerHour.toPrecision(3)))}`,
      html`${money(book.valuePerHour)}`,
      html`${bpsText(book.volatilityBps)}`,
      html`${bpsText(left?.bps ?? null)} <span class="soft">± ${bpsText(left?.errorBps ?? null)}</span>`,
      html`${bpsText(book.feeBps)}`,
      html`${bpsText(verdict.breakEvenFeeBps)}`,
      distance,
      net === null
        ? html`–`
        : html`<span class="${verdict.quote ? 'gain' : 'soft'}">${gain(net.value)}</span><br /><span class="soft"
              >${gain(net.low)} to ${gain(net.high)}</span
            >`,
      html`${money(capital)}`,
      reached === null
        ? html`–`
        : html`${bpsText(reached.feeBps)}<br /><span class="soft">${gain(reached.worthPerHour)}</span>`,
    ];
    return html`${tableRow(book.name, cells)} ${note(book, cells.length)}`;
  });
  const names = [
    'observed time',
    'half-spread, bps',
    'trades per hour',
    `volume per hour, ${currency ?? ''}`,
    'volatility per hour, bps',
    'average maker edge, bps',
    'maker fee, bps',
    'highest profitable fee, bps',
    'best distance, bps',
    `net per hour, ${currency ?? ''}`,
    `capital, ${currency ?? ''}`,
    'fee after a month, bps',
  ];
  return table(headRow('book', names), rows);
}

/** Formats a number with three significant digits and its sign. */
const signedText = (x: number): string => {
  const text = numberText(Number(Math.abs(x).toPrecision(3)));
  return text === '0' ? text : `${x > 0 ? '+' : '−'}${text}`;
};

/**
 * Returns a table row with the reason against quoting and the limitations of the recording; empty if there is neither.
 */
function note({ verdict, limits }: ScoutedBook, cells: number): Html {
  const words = [...(verdict.quote ? [] : [`${verdict.why}${missingText(verdict)}`]), ...limits];
  return words.length === 0
    ? NO_HTML
    : html`<tr class="note">
        <td></td>
        <td class="text soft" colspan="${cells}">${[...new Set(words)].join(' · ')}</td>
      </tr>`;
}

const namesAxis = (books: readonly ScoutedBook[]): Plot['x'] => ({
  kind: 'names',
  values: books.map((_, i) => i),
  names: books.map(({ name, book }) => (name.length > 11 ? book : name)),
  label: '',
});

function nets({ books, currency }: Scouting): Plot {
  const known = books.map(book => (book.rate === null ? null : book.verdict.netPerHour));
  const at = (i: number, x: number) => x * (books[i]?.rate ?? 1);
  const line = (label: string, colour: string, answers: readonly QuoteAnswer[]): Line => {
    const of = known.map((net, i) =>
      books[i] !== undefined && answers.includes(quoteAnswer(books[i].verdict)) ? net : null,
    );
    return {
      ...{ label, colour, style: 'dots' },
      values: of.map((net, i) => net && at(i, net.value)),
      spans: of.map((net, i) => net && ([at(i, net.low), at(i, net.high)] as const)),
    };
  };
  const lines = [
    line('pays', 'spread', ['quote']),
    line('not known yet, or do not quote', 'soft', ['not known yet', 'do not quote']),
  ];
  return {
    ...{ id: 'nets', title: 'Net per hour' },
    x: namesAxis(books),
    y: { label: `${currency ?? ''} per hour`, range: rangeAround(lines) },
    lines,
    ...{ shades: [], group: null },
  };
}

/**
 * Returns the range of a plot. Confidence intervals are clipped to twice the largest value, because very wide intervals
 * would compress the plot.
 */
function rangeAround(lines: readonly Line[]): readonly [number, number] | null {
  const values = lines.flatMap(line => line.values);
  const most = 2 * Math.max(0, ...values.map(value => Math.abs(value ?? 0)));
  const ends = lines.flatMap(({ spans = [] }) => spans.flatMap(span => span ?? []));
  return rangeOf([...values, ...ends.map(end => Math.max(-most, Math.min(most, end))), 0]);
}

function fees(books: readonly ScoutedBook[]): Plot {
  const dots = (label: string, colour: string, value: (book: ScoutedBook) => number | null): Line => ({
    ...{ label, colour, style: 'dots' },
    values: books.map(value),
  });
  const lines = [
    dots('half-spread', 'model-1', ({ halfSpreadBps }) => halfSpreadBps),
    dots(
      'edge of the average maker after a minute',
      'spread',
      ({ maker }) => maker.find(({ seconds }) => seconds === 60)?.bps ?? null,
    ),
    dots('fee', 'fees', ({ feeBps }) => feeBps),
  ];
  return {
    ...{ id: 'fees', title: 'Half-spread, edge of the average maker, and fee' },
    x: namesAxis(books),
    y: { label: 'bps', range: rangeOf([...lines.flatMap(({ values }) => values), 0]) },
    lines,
    ...{ shades: [], group: null },
  };
}

/** Plots the net profit per hour by distance; `null` if no distance has a known markout. */
function netByDistance(book: ScoutedBook, i: number, currency: string | null): Plot | null {
  const { rate, currency: shown } = shownIn(book, currency);
  const points = book.curve.filter(({ left }) => left !== null);
  if (points.length === 0) return null;
  const net = (x: number, valuePerHour: number) => ((x - book.feeBps) / 1e4) * valuePerHour * rate;
  const line: Line = {
    ...{ label: 'net', colour: book.verdict.quote ? 'spread' : 'fees', style: 'line', dots: true },
    values: points.map(({ left, valuePerHour }) => left && net(left.value, valuePerHour)),
    spans: points.map(
      ({ left, valuePerHour }) => left && ([net(left.low, valuePerHour), net(left.high, valuePerHour)] as const),
    ),
  };
  return {
    ...{ id: `distance-${i}`, title: book.name },
    x: { kind: 'number', values: points.map(({ distanceBps }) => distanceBps), label: 'bps from the mid price' },
    y: { label: `${shown} per hour`, range: rangeAround([line]) },
    lines: [line],
    ...{ shades: [], group: null },
  };
}

function makerPlot({ name, maker, feeBps }: ScoutedBook, i: number): Plot | null {
  if (maker.every(({ bps }) => bps === null)) return null;
  return {
    ...{ id: `maker-${i}`, title: name },
    x: {
      kind: 'names',
      values: maker.map((_, at) => at),
      names: maker.map(({ seconds }) => secondsText(seconds)),
      label: 'after the execution',
    },
    y: { label: 'bps', range: rangeOf([...maker.map(({ bps }) => bps), feeBps, 0]) },
    lines: [
      {
        ...{ label: 'average maker', colour: 'model-1', style: 'line', dots: true },
        values: maker.map(({ bps }) => bps),
        errors: maker.map(({ errorBps }) => errorBps),
      },
      { label: 'fee', colour: 'fees', style: 'dashed', values: maker.map(() => feeBps) },
    ],
    ...{ shades: [], group: null },
  };
}
