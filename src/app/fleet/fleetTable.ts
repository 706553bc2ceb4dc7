/** Table of a fleet for a terminal of 80 columns. */
import { shortRate, type FleetRow, type FleetSums, type FleetView } from '../../console/index.ts';
import { counted, money, moneyOf, shownText } from '../../core/index.ts';
import { signedCents } from '../../messages/shownProfit.ts';

/** Maximum width of a line of the table, in columns. */
const WIDTH = 80;
const COLUMNS = [
  ['bot', 14],
  ['state', 12],
  ['regime', 11],
  ['profit', 13],
  ['inventory', 16],
  ['last fill', 9],
] as const;

/** Returns the lines: the bots, then their problems and alerts, then the sums. */
export function fleetTable(view: FleetView): readonly string[] {
  const head = tableLine(COLUMNS.map(([name]) => name));
  const rows = view.bots.map(row =>
    tableLine([
      row.name,
      stateWord(row),
      row.regime ?? '',
      row.ownProfit === null ? '' : `${signedCents(moneyOf(row.ownProfit))} ${row.quote ?? ''}`,
      row.inventory === null ? '' : `${sixDecimals(row.inventory)} ${row.base ?? ''}`,
      row.lastFill === null ? '' : roundedAge(row.lastFill.agoMs),
    ]),
  );
  const troubles = view.bots.flatMap(({ name, trouble, alerts }) => [
    ...(trouble === null ? [] : wrappedSentence(`${name}: ${trouble}`)),
    ...alerts.flatMap(({ text }) => wrappedSentence(`${name}: ${text}`)),
  ]);
  return [
    ...[head, ...rows],
    ...(troubles.length === 0 ? [] : ['', ...troubles]),
    ...view.sums.flatMap(sums => ['', ...sumLines(sums, view.currency)]),
  ];
}

const MONEY: Readonly<Record<FleetSums['money'], string>> = {
  ...{ real: 'real money', paper: 'paper', play: 'play money' },
};

function sumLines(of: FleetSums, currency: string): readonly string[] {
  const total = of.profit === null ? 'unknown' : `${signedCents(moneyOfSum(of.profit))} ${currency}`;
  const inventory = of.inventory.map(({ currency: base, amount }) => `${sixDecimals(amount)} ${base}`).join(', ');
  return [
    `profit, ${MONEY[of.money]}, ${counted(of.bots, 'bot')}: ${total}`,
    ...(inventory === '' ? [] : [`inventory relative to target: ${inventory}`]),
    ...of.rates.map(
      ({ from, to, rate, ageMs, books }) =>
        `1 ${from} = ${shortRate(rate)} ${to} from ${books.join(', ')}, ${roundedAge(ageMs)} old`,
    ),
    ...of.unconverted.map(
      ({ currency: own, profit, bots }) =>
        `not in the sum: ${signedCents(moneyOfSum(profit))} ${own} of ${counted(bots, 'bot')}, because no book has a rate to ${currency}`,
    ),
    ...of.stale.map(
      ({ name, figuresAgoMs }) => `the sums include figures of ${name} that are ${roundedAge(figuresAgoMs)} old`,
    ),
    ...of.missing.map(({ name, what }) => `the sums lack the ${what} of ${name}`),
  ].flatMap(wrappedSentence);
}

/** Parses a sum of many bots, which may have more digits than one amount. */
function moneyOfSum(text: string): ReturnType<typeof money> {
  const [whole = '0', fraction = ''] = text.replace('-', '').split('.');
  const size = BigInt(whole) * 10n ** 18n + BigInt(fraction.padEnd(18, '0'));
  return money(text.startsWith('-') ? -size : size);
}

/** Returns the state of the bot, or of its console if the console does not answer, in at most 12 columns. */
function stateWord({ state, bot }: FleetRow): string {
  if (state !== 'heard') return state;
  return bot === 'silent' ? 'no heartbeat' : (bot ?? '');
}

/** Cuts an amount to six decimals. */
const sixDecimals = (text: string): string => text.replace(/(\.\d{6})\d{1,12}$/, '$1');

function roundedAge(ms: number): string {
  const s = Math.floor(ms / 1_000);
  if (s < 120) return `${s} s`;
  if (s < 7_200) return `${Math.floor(s / 60)} min`;
  return s < 172_800 ? `${Math.floor(s / 3_600)} h` : `${Math.floor(s / 86_400)} d`;
}

/** Returns one line of cells; a cell that is too long is cut, and ends with a dot. */
const tableLine = (cells: readonly string[]): string =>
  COLUMNS.map(([, width], i) => fittedCell(shownText(cells[i] ?? ''), width))
    .join(' ')
    .trimEnd();

function fittedCell(text: string, width: number): string {
  const signs = [...text];
  return signs.length <= width ? text + ' '.repeat(width - signs.length) : `${signs.slice(0, width - 1).join('')}.`;
}

/** Breaks a sentence into lines of at most 80 columns, at blanks where possible. */
function wrappedSentence(sentence: string): readonly string[] {
  const lines: string[] = [];
  let line: string[] = [];
  for (const word of shownText(sentence).split(' ')) {
    let rest = [...word];
    if (line.length > 0 && line.length + 1 + rest.length > WIDTH) {
      lines.push(line.join(''));
      line = [...'  '];
    } else if (line.length > 0) line.push(' ');
    while (line.length + rest.length > WIDTH) {
      const room = WIDTH - line.length;
      lines.push([...line, ...rest.slice(0, room)].join(''));
      [line, rest] = [[...'  '], rest.slice(room)];
    }
    line.push(...rest);
  }
  return [...lines, line.join('')];
}
