/** Section of docs/development/evidence/elsewhere.md on two exchanges in a box, from tapes of both: `npm run hedged:docs -- --only box`. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bpsText, type HedgedBook } from '../../backtest/index.ts';
import { boxedBook, boxedConfig, LINKS } from '../backtest/hedged/boxedMarkets.ts';
import { boxTapes, type BoxTapes } from '../backtest/hedged/boxTapes.ts';

const HOURS = 8;

/** Markets of the tables, with the seed of each. */
const MARKETS = [
  ['shipped', 'the shipped `config/elsewhere.yaml`', 1],
  ['edge', 'a planted edge: a mispricing of 15 bps that returns within 60 s', 2],
  ['nothing', 'no lead, no basis, no noise', 3],
] as const;

type Measured = { readonly title: string; readonly book: HedgedBook };

/** Records and measures all markets. `made`: the program and the machine, for the text. */
export async function boxSection(made: string): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-box-'));
  const measured: Measured[] = [];
  const measure = (title: string, links: object, tapes: BoxTapes): void => {
    measured.push({ title, book: boxedBook('here', boxedConfig(links), tapes) });
    console.log(measured.at(-1)!.title, JSON.stringify(measured.at(-1)!.book.verdict));
  };
  try {
    const recorded: BoxTapes[] = [];
    for (const [name, title, seed] of MARKETS) {
      recorded.push(await boxTapes(boxedConfig(LINKS[name]), seed, HOURS, join(dir, name)));
      measure(title, LINKS[name], recorded.at(-1)!);
    }
    const crossed = { quoted: recorded[0]!.quoted, hedge: recorded.at(-1)!.hedge };
    measure('nothing in common: the first exchange of the first row, the second of the third', {}, crossed);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return textOf(measured, made);
}

function textOf(measured: readonly Measured[], made: string): string {
  const { fees, latencyMs, hedgeLatencyMs } = measured[0]!.book;
  const shipped = `${bpsText(fees.makerBps)} + ${bpsText(fees.hedgeBps)} bps`;
  return `## Two exchanges in a box

Written by \`npm run hedged:docs -- --only box\` ${made}. Both embedded exchanges run in virtual time for ${HOURS} hours, and the recorders of \`puntas record\` write a tape of each from its stream. The measurement is that of \`puntas scout --hedge-tape\` and \`puntas calibrate --hedge-tape\`, at the fees of the configuration, ${shipped}, ${bpsText(fees.backBps)} bps for moving quote currency back after a hedge, and latencies of ${latencyMs} + ${hedgeLatencyMs} ms each way. Columns are as in the first table: values are in bps before fees, *pays to* and *fees* are those of both exchanges together.

${tableOf(
  ['market', 'lead of the hedge, s', 'mispricing, bps', 'at the fees of the configuration', 'pays to, bps'],
  measured.map(({ title, book }) => [
    title,
    leadOf(book),
    bpsText(book.basis?.deviationBps ?? null),
    verdictOf(book),
    bpsText(book.payingFeeBps),
  ]),
)}

${measured.map(marketText).join('\n\n')}
`;
}

const leadOf = ({ lead }: HedgedBook): string =>
  lead === null
    ? '–'
    : `${[lead.lagMs, lead.lowMs, lead.highMs]
        .map(ms => Number((ms / 1_000).toPrecision(2)))
        .join(', ')
        .replace(', ', ' (')
        .replace(', ', ' to ')})`;

const verdictOf = ({ verdict: { quote, why } }: HedgedBook): string => (quote ? 'quote' : `do not: ${why}`);

const marketText = ({ title, book }: Measured): string => `By distance: ${title}.

${tableOf(
  ['distance, bps', 'fills', 'fills per hour', 'at the fill, bps', 'rest, bps (95%)', 'chosen at fees of'],
  book.curve.map(({ distanceBps, heldOut }) => [
    ...[
      bpsText(distanceBps),
      String(heldOut.fills),
      bpsText(heldOut.fillsPerHour),
      bpsText(heldOut.atFill?.value ?? null),
    ],
    ...[valueOf(heldOut), chosenAt(book, distanceBps)],
  ]),
)}`;

const valueOf = ({ later }: HedgedBook['curve'][number]['heldOut']): string =>
  later === null ? '–' : `${bpsText(later.value)} (${bpsText(later.low)} to ${bpsText(later.high)})`;

const chosenAt = ({ byFee }: HedgedBook, distance: number): string =>
  byFee
    .filter(({ distanceBps }) => distanceBps === distance)
    .map(({ feeBps, quote }) => `${bpsText(feeBps)}: ${quote ? 'quote' : 'do not'}`)
    .join('; ') || '–';

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, i) => (i === 0 || i === head.length - 1 ? '---' : '---:')), ...rows]
    .map(cells => `| ${cells.join(' | ')} |`)
    .join('\n');
