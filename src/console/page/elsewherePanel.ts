/** Panel of prices and hedges on other exchanges. */
import { div, h, meterRow, none, small, tableOf, type Node } from './elements.ts';
import { clockOf, fixed, leadText, span, tone, trimmed, withSign } from './texts.ts';
import type { ConsoleView, ShownBookPrices, ShownElsewhere, ShownElsewhereSource, ShownHedging } from './view.ts';

/** Returns the panel; `null` if the configuration has neither a live price nor hedges elsewhere. */
export const elsewherePanel = ({ elsewhere, at }: ConsoleView): Node =>
  elsewhere === null
    ? null
    : div(
        'parts',
        div('', booksTable(elsewhere.books), ...sourcesParts(elsewhere.sources)),
        ...(elsewhere.hedging === null
          ? []
          : [div('', ...debtParts(elsewhere.hedging, at)), div('', ...hedgesParts(elsewhere.hedging))]),
      );

const booksTable = (books: ShownElsewhere['books']): Node =>
  tableOf(
    ['book', 'bid', 'ask', 'spread', 'age'],
    books.map(({ name, isHere, bid, ask, spreadBps, ageMs, problem }: ShownBookPrices) => [
      isHere
        ? `${name}, here`
        : problem === null
          ? name
          : h('span', { class: 'bad', title: problem }, `${name}: no data`),
      bid ?? '–',
      ask ?? '–',
      spreadBps === null ? '–' : `${fixed(spreadBps, 1)} bps`,
      ageMs === null ? '–' : secondsText(ageMs),
    ]),
  );

const sourcesParts = (sources: readonly ShownElsewhereSource[]): readonly Node[] =>
  sources.length === 0
    ? []
    : [
        tableOf(
          ['source', 'price', 'from mid', 'basis', 'age', 'lag'],
          sources.map(({ name, notUsed, price, fromMidBps, basisBps, basisErrorBps, ageMs, lagMs }) => [
            notUsed === null ? name : h('span', { class: 'bad', title: notUsed }, `${name}: not used`),
            price ?? '–',
            fromMidBps === null ? '–' : `${withSign(fromMidBps, 1)} bps`,
            basisBps === null || basisErrorBps === null
              ? small('soft', 'none')
              : `${withSign(basisBps, 1)} ± ${fixed(basisErrorBps, 1)} bps`,
            ageMs === null ? '–' : secondsText(ageMs),
            lagMs === null ? '–' : `${fixed(lagMs, 0)} ms`,
          ]),
        ),
        ...sources.flatMap(source => [
          ...(source.notUsed === null
            ? []
            : [h('p', { class: 'bad' }, `${source.name} is not used: ${source.notUsed}`)]),
          h('p', null, small('soft', `${source.name}: `), leaderText(source)),
        ]),
      ];

/** Formats the time by which the source leads or follows the bot's book, and the correlation at that lead. */
const leaderText = ({ lead, noLead }: ShownElsewhereSource): string =>
  lead === null ? (noLead ?? 'lead unknown') : `${leadText(lead)}, correlation ${fixed(lead.correlation, 2)}`;

const secondsText = (ms: number): string => `${fixed(ms / 1_000, 1)} s`;

function debtParts(of: ShownHedging, at: number): readonly Node[] {
  const { currency, quoteCurrency, debt, debtMax, debtShare, band, failures, open, whyNotQuoted } = of;
  return [
    div(
      'limits',
      ...meterRow(
        'hedge debt',
        `${trimmed(debt)} of ${trimmed(debtMax)} ${currency} (band ${trimmed(band)})`,
        debtShare,
      ),
    ),
    h(
      'p',
      null,
      open === null
        ? small('soft', 'no hedge is open')
        : small(
            open.isUnknown ? 'bad' : 'fair',
            `hedge ${open.id} open for ${span(at - open.since)}${open.isUnknown ? ', outcome unknown' : ''}`,
          ),
      (open?.why ?? null) === null ? '' : small('soft', `: ${open?.why ?? ''}`),
      failures === 0 ? '' : small('bad', `; consecutive failed hedges: ${failures}`),
    ),
    h('p', null, whyNotQuoted === null ? small('soft', 'both sides are quoted') : small('fair', whyNotQuoted)),
    tableOf(
      ['inventory', currency, 'quote currency'],
      of.inventory.map(({ exchange, base, quote, quoteCurrency: quoted }) => [
        exchange,
        base === null ? '–' : trimmed(base),
        `${quote === null ? '–' : fixed(quote, 2)} ${quoted}`,
      ]),
    ),
    h('p', { class: 'soft' }, driftText(of, quoteCurrency)),
  ];
}

function driftText({ drift, driftValue, inventory, place }: ShownHedging, minor: string): string {
  if (drift === null) return `drift at ${place}: unknown`;
  const currency = inventory.find(({ exchange }) => exchange === place)?.quoteCurrency ?? '';
  const value = driftValue === null ? 'value unknown' : `value ${withSign(driftValue, 2)} ${minor}`;
  return `drift at ${place}: ${withSign(drift, 2)} ${currency}${currency === minor ? '' : `, ${value}`}`;
}

const hedgesParts = ({ last, currency }: ShownHedging): readonly Node[] => [
  last.length === 0
    ? none('no hedge on the other exchange yet')
    : tableOf(
        ['last hedges', currency, 'cost', 'expected', ''],
        last.map(({ at, amount, traded, paidBps, paid, otherFees, expectedBps, state, why }) => [
          clockOf(at),
          amount.startsWith('-')
            ? small(
                'bid',
                traded === null ? `to buy ${trimmed(amount.slice(1))}` : `bought ${trimmed(traded.slice(1))}`,
              )
            : small('ask', traded === null ? `to sell ${trimmed(amount)}` : `sold ${trimmed(traded)}`),
          paidBps === null
            ? '–'
            : h(
                'span',
                { class: tone(-paidBps), title: `${paid ?? ''}${otherFees === null ? '' : `, without ${otherFees}`}` },
                `${fixed(paidBps, 1)} bps${otherFees === null ? '' : ' + fee'}`,
              ),
          expectedBps === null ? '–' : `${fixed(expectedBps, 1)} bps`,
          // A completed hedge with a reason was executed in part.
          state === 'completed' ? small('soft', why ?? '') : h('span', { class: 'fair', title: why }, state),
        ]),
      ),
  last.length === 0
    ? null
    : h(
        'p',
        { class: 'soft' },
        "cost: paid cost against the mid price of the bot's book at the hedge decision, including fees; expected: estimate at the decision, which also includes price risk and the cost of converting back",
      ),
];
