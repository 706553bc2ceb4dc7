/** Order ids of the bot at every registered exchange: within the rule that the exchange declares, each can be sent. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { orderIdOf, ORDER_COUNTERS, type OrderIdRule, type OrderKind, type WireRequest } from '../../src/core/index.ts';
import { assertRunFits, assertVenuesFit } from '../../src/wiring/elsewhereHedging.ts';
import { VENUES } from '../../src/wiring/venueRegistry.ts';
import { runsOf } from '../many.ts';
import { BOOKS, clientOn, endOf, listAnswer } from './everyVenue.ts';

/** Id of the bot in a placement, as each exchange names it, and the form that its documents allow. */
const FORMS: Readonly<Record<string, readonly [field: string, form: RegExp]>> = {
  bitso: ['origin_id', /^[A-Za-z0-9_-]{1,40}$/],
  binance: ['newClientOrderId', /^[.A-Z:/a-z0-9_-]{1,36}$/],
  kraken: [
    'cl_ord_id',
    /^(?:[A-Za-z0-9_-]{1,18}|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})$/,
  ],
};
const KINDS = Object.keys(ORDER_COUNTERS) as OrderKind[];
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'];

const fieldsOf = ({ body }: WireRequest): Readonly<Record<string, unknown>> =>
  body.startsWith('{')
    ? (JSON.parse(body) as Record<string, unknown>)
    : Object.fromEntries(new URLSearchParams(body).entries());

/** Ids of a rule, at the bounds more often than between them. */
function idsWithin({ instanceMax, runMax }: OrderIdRule) {
  const atBounds = (min: number, max: number) => fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }));
  const named = (minLength: number) =>
    fc.string({ unit: fc.constantFrom(...LETTERS), minLength, maxLength: instanceMax, size: 'max' });
  const instance = fc.oneof(named(1), named(instanceMax));
  const counted = fc.constantFrom(...KINDS).chain(kind => {
    const { first, last } = ORDER_COUNTERS[kind];
    return fc.tuple(fc.constant(kind), atBounds(1, last - first + 1));
  });
  return fc
    .tuple(instance, atBounds(0, runMax), counted)
    .map(([name, run, [kind, n]]) => orderIdOf({ instance: name, run }, kind, n));
}

describe.each(VENUES.map(venue => [venue.name, venue] as const))('%s', (name, venue) => {
  const placementOf = async (originId: string): Promise<string> => {
    const sent: WireRequest[] = [];
    const { client, clock } = clientOn(venue, async request => {
      const list = listAnswer(request);
      if (list === undefined) sent.push(request);
      return list ?? { status: 502, headers: {}, body: '' };
    });
    const order = { book: BOOKS[name]!, side: 'buy', price: '1', major: '1', originId } as const;
    const outcome = await endOf(clock, client.place({ ...order, timeInForce: 'immediate or cancel' }));
    if (outcome?.kind === 'refused') return `refused: ${outcome.message}`;
    expect(sent).toHaveLength(1);
    return String(fieldsOf(sent[0]!)[FORMS[name]![0]]);
  };

  test('takes the ids of all kinds of orders with the longest instance, run and counter, each in an allowed form', async () => {
    await fc.assert(
      fc.asyncProperty(idsWithin(venue.orderIds), async originId => {
        expect(await placementOf(originId)).toMatch(FORMS[name]![1]);
      }),
      runsOf(2_000, 100),
    );
    const { instanceMax, runMax, counterMax } = venue.orderIds;
    expect(counterMax).toBeGreaterThanOrEqual(Math.max(...KINDS.map(kind => ORDER_COUNTERS[kind].last)));
    // Beyond the bounds, an id does not reach the exchange.
    expect(await placementOf(`${'a'.repeat(instanceMax + 1)}-${runMax}-${counterMax}`)).toMatch(/^refused: /);
    // The probe of doctor, and the orders of the conformance checks.
    expect(await placementOf(`${'a'.repeat(Math.min(12, instanceMax))}-0-0`)).toMatch(FORMS[name]![1]);
    if (venue.conformance) expect(await placementOf('conformzzzzzz-9999')).toMatch(FORMS[name]![1]);
  });

  test('is refused at the start with a longer instance or run', () => {
    const { instanceMax, runMax } = venue.orderIds;
    const configOf = (instance: string) => {
      const read = loadConfig(
        `{ book: btc_mxn, instance: ${instance}, exchange: { kind: remote, venue: ${name}, restUrl: 'https://example.com' }, strategy: { name: ladder, halfSpreadBps: 50, levels: 1, levelSpacingBps: 1, amount: '0.1', levelAmountStep: '0', refreshToleranceBps: 20, minEdgeBps: 1, skew: { priceBpsAtLimit: 1, sizeRange: '1' } }, timing: { privatePollMs: 15000 }, limits: { positionMax: '1', orderAmountMax: '1', orderValueMax: '1000000', collarBps: 500, drawdownMax: '1000', dayLossMax: '1000', ordersMax: 10 } }`,
        'my.yaml',
      );
      if (!read.ok) throw new Error(read.errors.join('\n'));
      return read.config;
    };
    const config = configOf('a'.repeat(Math.min(12, instanceMax)));
    expect(() => assertVenuesFit(config)).not.toThrow();
    expect(() => assertVenuesFit({ ...config, instance: 'a'.repeat(instanceMax + 1) })).toThrow(
      `instance: expected at most ${instanceMax} characters for the order ids of ${name} (section exchange)`,
    );
    expect(() => assertRunFits(config, runMax)).not.toThrow();
    expect(() => assertRunFits(config, runMax + 1)).toThrow(
      `run number: expected at most ${runMax} for the order ids of ${name} (section exchange), found ${runMax + 1}`,
    );
  });
});

test('no two kinds of orders of a run share an id, and a kind without ids left says what to do', () => {
  const bounds = KINDS.map(kind => ORDER_COUNTERS[kind]);
  for (const [n, { first, last }] of bounds.entries()) {
    expect(first).toBeGreaterThan(bounds[n - 1]?.last ?? 0);
    expect(last).toBeGreaterThan(first);
  }
  const owner = { instance: 'mm', run: 3 };
  expect(orderIdOf(owner, 'taker', 1)).toBe('mm-3-40000001');
  expect(orderIdOf(owner, 'elsewhere', 9_999_999)).toBe('mm-3-59999999');
  for (const n of [0, -1, 0.5, Number.NaN, 10_000_000])
    expect(() => orderIdOf(owner, 'elsewhere', n)).toThrow(
      `run 3 of mm has ids for 9999999 orders of the kind elsewhere, found order number ${n}; restart the bot`,
    );
});
