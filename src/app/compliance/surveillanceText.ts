/** Surveillance measures as text, and as a section of the profit report's page. */
import { columns, html, section, table, type Html } from '../../pages/index.ts';
import { timeText } from '../../messages/timeText.ts';
import { wrapped } from '../../messages/wrapped.ts';
import { MOMENTUM_GAIN_BPS, MOMENTUM_TRADES_MIN } from './ownFlow.ts';
import { ratiosOf, ratioText, type Surveillance } from './surveillance.ts';

const WIDTH = 80;
const HEAD = ['day', 'layered', 'after fill', 'short', 'peak', 'OTR', 'OTR volume', 'self', 'reversals'];

/** Returns the measures as lines: a table with one row for each day, the warnings, and the definitions. */
export function surveillanceText(measured: Surveillance): readonly string[] {
  const warnings = warningRows(measured);
  return [
    `order flow of the bot on ${measured.book}, by UTC day`,
    '',
    ...gapRows(measured).flatMap(text => wrapped(text, WIDTH)),
    ...columns([HEAD, ...measureRows(measured)]),
    '',
    ...(warnings.length === 0 ? ['No warning.'] : ['Warnings:', ...warnings.map(text => `  ${text}`)]),
    '',
    ...definitions(measured).flatMap(note => wrapped(note, WIDTH)),
  ];
}

/** Returns the measures as a section of a page. */
export function surveillanceSection(measured: Surveillance): Html {
  const warnings = warningRows(measured);
  const row = ([first, ...others]: readonly string[]): Html =>
    html`<tr>
      <th class="text">${first ?? ''}</th>
      ${others.map(cell => html`<td>${cell}</td>`)}
    </tr>`;
  return section('Own order flow', [
    ...gapRows(measured).map(text => html`<p class="verdict">${text}</p>`),
    ...(warnings.length === 0 ? ['No warning.'] : warnings).map(text => html`<p>${text}</p>`),
    table(row(HEAD), measureRows(measured).map(row)),
    ...definitions(measured).map(note => html`<p class="soft">${note}</p>`),
  ]);
}

const measureRows = ({ days, instrument }: Surveillance): readonly (readonly string[])[] =>
  days.map(day => {
    const { layering, stuffing, wash, momentum } = day;
    const { number, volume } = ratiosOf(day, instrument);
    return [
      timeText(day.from).slice(0, 10),
      `${layering.layered}/${layering.fills}`,
      `${layering.canceledAfterFill}/${layering.canceledUnfilled}`,
      `${stuffing.shortLived}/${stuffing.canceledUnfilled}`,
      String(stuffing.peakPerSecond),
      ratioText(number),
      ratioText(volume),
      String(wash.ownBoth + wash.accountBoth + wash.sameTerms),
      String(momentum.reversals),
    ];
  });

const warningRows = ({ days }: Surveillance): readonly string[] =>
  days.flatMap(({ from, warnings }) => warnings.map(text => `${timeText(from).slice(0, 10)}  ${text}`));

/** Returns lines about the recordings that were not replayed completely, with what the measures omit. */
const gapRows = ({ recordings }: Surveillance): readonly string[] =>
  recordings.flatMap(({ run, difference, gap }) => [
    ...(difference === null
      ? []
      : [
          `INCOMPLETE: run ${run}: this version of Puntas decides differently from the recording, so the rest of the run is omitted: ${difference}`,
        ]),
    ...(gap ? [`INCOMPLETE: run ${run} was not recorded to its end, because the disk was full`] : []),
  ]);

const definitions = ({ windows }: Surveillance): readonly string[] => [
  `layered: fills after which the bot canceled unfilled orders at several prices on the other side within ${windows.afterFillMs} ms, out of all fills. After fill: orders on the other side canceled unfilled within ${windows.afterFillMs} ms after a fill, even at one price, out of all orders canceled unfilled.`,
  `short: orders canceled unfilled after less than ${windows.shortLifeMs} ms, out of all orders canceled unfilled. Peak: most requests in one second.`,
  'OTR: order-to-trade ratio (RTS 9), which is placed and canceled orders per execution, minus one. OTR volume: placed amount per executed amount, minus one.',
  `self: trades of the account with itself. Reversals: fills at a price at least ${MOMENTUM_GAIN_BPS} bps better than the first of ${MOMENTUM_TRADES_MIN} or more aggressive trades of the bot on the other side in the ${windows.momentumMs} ms before.`,
];
