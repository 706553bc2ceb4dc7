/** Panels of the fleet page: the sums of each kind of money, and the table of the bots. */
import { div, h, small, signedSum, type Node } from '../elements.ts';
import { severityOf, type SortColumn, type SortOrder } from './fleetRows.ts';
import type { FleetRow, FleetSums, FleetView } from './fleetView.ts';
import { shortRate, shownCount, fixed, span, trimmed, withSign } from '../texts.ts';

const MONEY: Readonly<Record<FleetSums['money'], string>> = {
  real: 'real money',
  paper: 'paper, simulated fills',
  play: 'play money',
};
const REGIMES: Readonly<Record<string, string>> = {
  ...{ normal: 'good', wide: 'fair', 'reduce only': 'fair', paused: 'bad', halted: 'bad' },
};
/** Maximum number of bots that one sentence names. */
const NAMED_MAX = 12;

/** Header with the number of running, silent, halted and stopped bots. */
export function fleetHead({ bots, version }: FleetView, isUp: boolean): Node {
  const count = (of: (row: FleetRow) => boolean) => bots.filter(of).length;
  const [running, silent, stopped, halted] = [
    count(row => row.state === 'heard' && row.bot === 'running'),
    count(row => row.state === 'silent' || row.bot === 'silent'),
    count(row => row.bot === 'stopped'),
    count(row => row.regime === 'halted'),
  ];
  return [
    h('h1', null, 'Fleet', small('soft', ` ${botsText(bots.length)} · version ${version}`)),
    div(
      'pills',
      small(`pill ${running > 0 ? 'good' : ''}`, `${running} running`),
      silent > 0 ? small('pill bad', `${silent} silent`) : null,
      halted > 0 ? small('pill bad', `${halted} halted`) : null,
      stopped > 0 ? small('pill fair', `${stopped} stopped`) : null,
      isUp ? null : small('pill bad', 'no connection to the fleet process'),
    ),
  ];
}

/** Sums of each kind of money. */
export const sumsPanels = ({ sums, currency }: FleetView): Node => sums.map(each => sumPanel(each, currency));

function sumPanel(of: FleetSums, currency: string): Node {
  const profit = of.profit === null ? '–' : `${withSign(of.profit, 2)} ${currency}`;
  const notes = [
    ...of.unconverted.map(
      ({ currency: own, profit: sum, bots }) =>
        `not in the sum: ${withSign(sum, 2)} ${own} of ${botsText(bots)}, because no book has a rate to ${currency}`,
    ),
    ...(of.stale.length > 0
      ? [`old figures: ${namesOf(of.stale.map(({ name, figuresAgoMs }) => `${name} (${span(figuresAgoMs)} old)`))}`]
      : []),
    ...missingTexts(of.missing),
  ];
  return div(
    'panel sum',
    div(
      '',
      small('soft', `Profit, ${MONEY[of.money]}, ${botsText(of.bots)}`),
      h('p', null, h('b', { class: 'total', title: of.profit }, profit)),
      h('p', { class: 'soft' }, of.runProfit === null ? '' : `last runs: ${withSign(of.runProfit, 2)} ${currency}`),
    ),
    div(
      '',
      small('soft', 'Inventory relative to target'),
      h(
        'p',
        null,
        ...of.inventory.map(({ currency: base, amount }) =>
          small('figure', `${Number(amount) > 0 ? '+' : ''}${trimmed(amount)} ${base}`),
        ),
      ),
      ...of.rates.map(({ from, to, rate, ageMs, books }) =>
        h('p', { class: 'soft' }, `1 ${from} = ${shortRate(rate)} ${to} (${books.join(', ')}; ${span(ageMs)} old)`),
      ),
    ),
    div('', ...notes.map(note => h('p', { class: 'fair' }, note))),
  );
}

const botsText = (count: number): string => shownCount(count, 'bot');

const namesOf = (names: readonly string[]): string =>
  names.length <= NAMED_MAX
    ? names.join(', ')
    : `${names.slice(0, NAMED_MAX).join(', ')} and ${names.length - NAMED_MAX} more`;

/** Returns one text for each kind of figure that is missing from the sums, with the names of its bots. */
function missingTexts(missing: FleetSums['missing']): readonly string[] {
  const kinds = [...new Set(missing.map(({ what }) => what))];
  return kinds.map(
    kind => `without the ${kind} of ${namesOf(missing.filter(({ what }) => what === kind).map(({ name }) => name))}`,
  );
}

type Column = {
  readonly sort: SortColumn;
  readonly title: string;
  readonly isText?: true;
  readonly isWhole?: true;
  readonly cell: (row: FleetRow) => Node;
};

const COLUMNS: readonly Column[] = [
  {
    ...{ sort: 'name', title: 'Bot', isText: true, isWhole: true },
    cell: ({ name, link, book, strategy, instance, money }) => [
      h('a', { href: link, target: '_blank', rel: 'noreferrer', title: `console of ${name}` }, name),
      small('soft line', [book, strategy, instance, money === 'real' ? null : money].filter(Boolean).join(' · ')),
    ],
  },
  {
    ...{ sort: 'state', title: 'State', isText: true, isWhole: true },
    cell: row => [
      small(`pill ${severityOf(row) >= 5 ? 'bad' : row.bot === 'running' ? 'good' : 'fair'}`, stateText(row)),
      row.trouble === null ? null : small(`line ${severityOf(row) >= 5 ? 'bad' : 'fair'}`, row.trouble),
    ],
  },
  {
    ...{ sort: 'regime', title: 'Regime' },
    cell: ({ regime, why }) =>
      regime === null ? '' : h('span', { class: `pill ${REGIMES[regime] ?? ''}`, title: why }, regime),
  },
  {
    ...{ sort: 'profit', title: 'Profit' },
    // A profit that has no rate, or was converted, is also shown in its own currency.
    cell: ({ profit, ownProfit, quote }) =>
      ownProfit === null
        ? ''
        : [
            h('span', { title: profit }, signedSum(profit)),
            profit === ownProfit ? null : small('soft line', `${withSign(ownProfit, 2)} ${quote ?? ''}`),
          ],
  },
  { sort: 'run', title: 'This run', cell: ({ runProfit }) => (runProfit === null ? '' : signedSum(runProfit)) },
  {
    ...{ sort: 'inventory', title: 'Inventory' },
    cell: ({ inventory, base }) => (inventory === null ? '' : `${trimmed(inventory)} ${base ?? ''}`),
  },
  {
    ...{ sort: 'uptime', title: 'Uptime' },
    cell: ({ uptime }) => (uptime === null ? '' : `${fixed(uptime * 100, 1)}%`),
  },
  {
    ...{ sort: 'fill', title: 'Last fill' },
    cell: ({ lastFill: last, fillCount }) =>
      last === null
        ? ''
        : [
            h(
              'span',
              { class: last.side, title: `${last.amount} at ${last.price}` },
              `${last.side} ${span(last.agoMs)} ago`,
            ),
            fillCount === null ? null : small('soft line', shownCount(fixed(fillCount, 0), 'fill')),
          ],
  },
  {
    ...{ sort: 'alerts', title: 'Alerts', isText: true, isWhole: true },
    cell: ({ alerts }) => alerts.map(({ level, text }) => small(`line ${level === 'error' ? 'bad' : 'fair'}`, text)),
  },
  { sort: 'version', title: 'Version', cell: ({ version }) => version ?? '' },
];

/** State of bot and console in one or two words. */
function stateText({ state, bot, heardAgoMs }: FleetRow): string {
  if (state === 'silent') return `silent ${span(heardAgoMs)}`;
  if (state === 'waiting' || bot === null) return 'waiting';
  return bot === 'silent' ? 'no heartbeat' : bot;
}

/** Table of the bots. `onSort` is called with the column whose heading was clicked. */
export function botsTable(rows: readonly FleetRow[], order: SortOrder, onSort: (column: SortColumn) => void): Node {
  if (rows.length === 0) return div('none', 'no bot matches the search');
  return div(
    'wide',
    h(
      'table',
      { class: 'bots' },
      h('thead', null, h('tr', null, ...COLUMNS.map(column => headCell(column, order, onSort)))),
      h(
        'tbody',
        null,
        ...rows.map(row =>
          h(
            'tr',
            { key: row.name, class: row.state === 'silent' ? 'gone' : '', 'data-bot': row.name },
            ...COLUMNS.map(column =>
              h('td', { class: classOf(column), 'data-name': column.title.toLowerCase() }, column.cell(row)),
            ),
          ),
        ),
      ),
    ),
  );
}

const classOf = ({ isText, isWhole }: Column): string =>
  [isText ? 'text' : '', isWhole ? 'whole' : ''].filter(Boolean).join(' ');

function headCell({ sort, title, isText }: Column, order: SortOrder, onSort: (column: SortColumn) => void): Node {
  const isBy = order.column === sort;
  return h(
    'th',
    {
      ...{ class: isText ? 'text' : '', scope: 'col' },
      'aria-sort': isBy ? (order.isDown ? 'descending' : 'ascending') : 'none',
    },
    h('button', { type: 'button', onClick: () => onSort(sort) }, `${title}${isBy ? (order.isDown ? ' ▾' : ' ▴') : ''}`),
  );
}
