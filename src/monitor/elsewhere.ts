/** Metrics of hedges, and of the account on the other exchange. */
import { approximately } from '../core/index.ts';
import { counter, gauge } from './entry.ts';

export const HEDGES = [
  counter({
    name: 'puntas_hedges_total',
    help: 'Hedges that ended, by route and state: completed, failed, stranded.',
    labels: ['book', 'way', 'state'],
    bounded: ['way'],
    zeros: () =>
      (['rfq', 'conversion', 'book', 'elsewhere'] as const).flatMap(way =>
        (['completed', 'failed'] as const).map(state => ({ way, state })),
      ),
    onEvent: { hedge: (way, state) => [[{ way, state }, 1]] },
  }),
  gauge({
    name: 'puntas_hedge_debt',
    alerts: ['PuntasHedgeDebt'],
    help: 'Worst-case inventory beyond the hedge band, including all pending hedges (base currency); absent without hedge.elsewhere.',
    labels: ['book', 'currency'],
    read: ({ elsewhere, majorCurrency: currency }) => [[{ currency }, elsewhere && approximately(elsewhere.debt)]],
  }),
  gauge({
    name: 'puntas_hedge_failures',
    help: 'Number of consecutive failed hedges on the other exchange.',
    labels: ['book'],
    read: ({ elsewhere }) => elsewhere && elsewhere.failures,
  }),
  gauge({
    name: 'puntas_elsewhere_orders_open',
    help: 'Orders on the other exchange that may still be open.',
    labels: ['book'],
    read: ({ elsewhere }) => elsewhere && elsewhere.openOrders,
  }),
  gauge({
    name: 'puntas_elsewhere_funds',
    help: 'Spendable funds on the other exchange, in the base and quote currency of its book.',
    labels: ['book', 'place', 'currency'],
    read: ({ elsewhere }) => {
      if (elsewhere === null) return [];
      const { place, funds } = elsewhere;
      return (['base', 'quote'] as const).map(
        currency => [{ place, currency }, approximately(funds[currency])] as const,
      );
    },
  }),
  gauge({
    name: 'puntas_elsewhere_in_transit',
    help: 'Amount in transit between the two exchanges, in the base and quote currency.',
    labels: ['book', 'currency'],
    read: ({ elsewhere }) =>
      elsewhere === null
        ? []
        : (['base', 'quote'] as const).map(currency => [{ currency }, approximately(elsewhere.inTransit[currency])]),
  }),
  gauge({
    name: 'puntas_elsewhere_drift',
    help: "How far the quote-currency balance on the other exchange is above its target (in the quote currency of the bot's book); absent if unknown.",
    labels: ['book', 'currency'],
    read: ({ elsewhere, minorCurrency: currency }) => {
      const value = elsewhere?.driftValue ?? null;
      return [[{ currency }, value === null ? null : approximately(value)]];
    },
  }),
];
