/** What many tellings of one transaction amount to does not depend on their order, or on how often they came. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findContradictions,
  joinTransactions,
  transactionFromEvent,
  type RefundStep,
  type TransactionEvent,
  type TransactionState,
} from '../../../src/core/index.ts';

const END = ['COMPLETE', 'FAILED'] as const;
type Status = TransactionEvent['status'];

/** A history as the exchange makes one: statuses that go forward, one end, a refund with steps whose ids come later. */
const history = fc
  .record({
    waits: fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 8, maxLength: 8 }),
    end: fc.constantFrom(...END),
    refundEnd: fc.option(fc.constantFrom(...END)),
    steps: fc.uniqueArray(fc.constantFrom('PLATFORM_TRANSFER', 'SPEI_WITHDRAWAL', 'TOKEN_MINT'), { maxLength: 3 }),
    twice: fc.boolean(),
  })
  .map(({ waits, end, refundEnd, steps: names, twice }) => {
    const events: TransactionEvent[] = [];
    let at = 1_700_000_000_000;
    const steps = twice && names[0] !== undefined ? [...names, names[0]] : names;
    const tell = (status: Status, refund?: { status: Status; steps: readonly RefundStep[] }) => {
      at += 1 + (waits[events.length % waits.length] ?? 0);
      events.push({
        id: 'x',
        kind: 'ISSUANCE',
        status,
        createdAt: 1,
        updatedAt: at,
        network: 'POLYGON',
        asset: 'MXN',
        amount: '10',
        method: 'SPEI',
        refunded: refund?.status === 'COMPLETE',
        ...(status === 'COMPLETE' ? { txHash: '0xabc' } : {}),
        ...(refund ? { refund } : {}),
      });
    };
    tell('PENDING');
    tell('IN_PROGRESS');
    tell(end);
    if (refundEnd !== null) {
      tell(end, { status: 'PENDING', steps: [] });
      steps.forEach((_, n) => {
        const before = steps.slice(0, n).map((step, i) => ({ step, status: 'COMPLETE' as const, id: `leg ${i}` }));
        tell(end, { status: 'IN_PROGRESS', steps: [...before, { step: steps[n]!, status: 'IN_PROGRESS' }] });
      });
      tell(end, {
        status: refundEnd,
        steps: steps.map((step, i) => ({ step, status: 'COMPLETE' as const, id: `leg ${i}` })),
      });
    }
    return events;
  });

const shuffled = history.chain(events =>
  fc
    .array(fc.nat({ max: events.length - 1 }), { maxLength: 20 })
    .chain(again =>
      fc.shuffledSubarray([...events, ...again.map(i => events[i]!)], { minLength: events.length + again.length }),
    )
    .map(disorder => ({ events, disorder })),
);

const joined = (events: readonly TransactionEvent[]): TransactionState =>
  events.map(transactionFromEvent).reduce((a, b) => joinTransactions(a, b));

/** Maps and sets in one order, so that states can be compared. */
const plain = (state: TransactionState): unknown =>
  JSON.parse(
    JSON.stringify(state, (_, value: unknown) => {
      if (value instanceof Map) return [...(value as Map<string, unknown>)].sort(([a], [b]) => (a < b ? -1 : 1));
      return value instanceof Set ? [...(value as Set<string>)].sort() : value;
    }),
  );

describe('what deliveries of one transaction amount to', () => {
  test('is the same for every order and repetition of them', () => {
    fc.assert(
      fc.property(shuffled, ({ events, disorder }) => {
        expect(plain(joined(disorder))).toEqual(plain(joined(events)));
      }),
    );
  });

  test('is the same however they are grouped', () => {
    fc.assert(
      fc.property(shuffled, fc.nat(), ({ disorder }, cut) => {
        const n = 1 + (cut % (disorder.length - 1));
        expect(plain(joinTransactions(joined(disorder.slice(0, n)), joined(disorder.slice(n))))).toEqual(
          plain(joined(disorder)),
        );
      }),
    );
  });

  test('is what the last event of a history says, in every field, and contradicts nothing', () => {
    fc.assert(
      fc.property(shuffled, ({ events, disorder }) => {
        const state = joined(disorder);
        const last = events[events.length - 1]!;
        expect(state.status.value).toBe(last.status);
        expect(findContradictions(state)).toEqual([]);
        expect([...state.kinds]).toEqual(['ISSUANCE']);
        const { id: _, kind: __, status: ___, updatedAt: at, ...fields } = last;
        const said = Object.entries(fields).filter(([name]) => name !== 'refund');
        const hash = events.findLast(event => 'txHash' in event);
        if (hash !== undefined && !('txHash' in last)) said.push(['txHash', '0xabc']);
        expect(new Map([...state.fields].map(([name, { value }]) => [name, value]))).toEqual(
          new Map(said.map(([name, value]) => [name, JSON.stringify(value)])),
        );
        expect(state.fields.get('amount')?.at).toBe(at);
        const refund = 'refund' in last ? last.refund : undefined;
        expect(state.refund?.status.value).toBe(refund?.status);
        const steps = [...(state.refund?.steps.values() ?? [])].map(({ status, id }) => `${status.value} ${id?.value}`);
        expect(steps.sort()).toEqual((refund?.steps ?? []).map(({ status, id }) => `${status} ${id}`).sort());
      }),
    );
  });

  test('never goes back from an end, also when an earlier status is told with a later time', () => {
    const base = { id: 'x', kind: 'CRYPTO_DEPOSIT', createdAt: 1, network: 'n', asset: 'a', amount: '1' } as const;
    const done = transactionFromEvent({ ...base, status: 'COMPLETE', updatedAt: 5 });
    const late = transactionFromEvent({ ...base, status: 'PENDING', updatedAt: 9 });
    expect(joinTransactions(done, late).status.value).toBe('COMPLETE');
  });

  test('two ends at different moments are the later one, whichever it is and in whatever order they came', () => {
    const base = { id: 'x', kind: 'CRYPTO_DEPOSIT', createdAt: 1, network: 'n', asset: 'a', amount: '1' } as const;
    for (const [first, last] of [END, [...END].reverse()] as const) {
      const one = transactionFromEvent({ ...base, status: first, updatedAt: 5 });
      const other = transactionFromEvent({ ...base, status: last, updatedAt: 6 });
      for (const state of [joinTransactions(one, other), joinTransactions(other, one)]) {
        expect(state.status.value).toBe(last);
        expect(findContradictions(state)).toHaveLength(1);
      }
    }
  });

  test('two ends at one moment are FAILED whichever came first, and said to be contradictory', () => {
    const base = { id: 'x', kind: 'CRYPTO_DEPOSIT', createdAt: 1, network: 'n', asset: 'a', amount: '1' } as const;
    const one = transactionFromEvent({ ...base, status: 'COMPLETE', updatedAt: 5 });
    const other = transactionFromEvent({ ...base, status: 'FAILED', updatedAt: 5 });
    for (const state of [joinTransactions(one, other), joinTransactions(other, one)]) {
      expect(state.status.value).toBe('FAILED');
      expect(findContradictions(state)).toEqual(['the final status was reported as COMPLETE and FAILED']);
    }
  });

  test('keeps every field of a transaction that cannot be refunded', () => {
    const base = { id: 'x', createdAt: 1, network: 'n', asset: 'a', amount: '1' } as const;
    const { fields, refund } = transactionFromEvent({
      ...base,
      kind: 'CRYPTO_DEPOSIT',
      status: 'PENDING',
      updatedAt: 5,
    });
    expect([[...fields.keys()].sort(), fields.get('amount'), refund]).toEqual([
      ['amount', 'asset', 'createdAt', 'network'],
      { value: '"1"', at: 5 },
      null,
    ]);
  });

  test('is said to be contradictory in its type and in the end of its refund, each in words', () => {
    const base = { id: 'x', status: 'COMPLETE', createdAt: 1, network: 'n', asset: 'a', amount: '1' } as const;
    const of = (status: Status, updatedAt: number) =>
      transactionFromEvent({
        ...{ ...base, kind: 'ISSUANCE', updatedAt, method: 'SPEI', refunded: false },
        refund: {
          status,
          steps: [
            { step: 'TOKEN_MINT', status: 'PENDING' },
            { step: 'TOKEN_MINT', status: 'COMPLETE', id: 'b' },
          ],
        },
      } as unknown as TransactionEvent);
    const other = transactionFromEvent({ ...base, kind: 'CRYPTO_DEPOSIT', updatedAt: 5 });
    const state = [of('COMPLETE', 7), other].reduce(joinTransactions, of('FAILED', 6));
    expect(findContradictions(state)).toEqual([
      'the type was reported as CRYPTO_DEPOSIT and ISSUANCE',
      'the final status of the refund was reported as COMPLETE and FAILED',
    ]);
    expect([...state.refund!.steps].map(([step, { id }]) => [step, id?.value])).toEqual([
      ['TOKEN_MINT 1', undefined],
      ['TOKEN_MINT 2', 'b'],
    ]);
  });
});
