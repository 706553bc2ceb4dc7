/** The bot's side of the webhook inbox: what it does and says after each delivery, at whatever rate they come. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inboxHearing } from '../../src/wiring/inbox.ts';
import type { FromThread } from '../../src/wiring/inboxThread.ts';
import { runsOf } from '../many.ts';
import { memoryLog } from '../memoryLog.ts';

const texts = fc.constantFrom('a', 'b', 'c');
const transactions = fc.record({
  kind: fc.constant('transaction' as const),
  id: texts,
  type: fc.constantFrom('CRYPTO_DEPOSIT' as const, 'CONVERSION' as const),
  status: fc.constantFrom('pending', 'complete'),
  refund: fc.option(texts),
  quoteId: fc.option(fc.constantFrom('q1', 'q2')),
  contradictions: fc.array(texts, { maxLength: 2 }),
});
const news: fc.Arbitrary<FromThread> = fc.oneof(
  { weight: 6, arbitrary: transactions },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('unreadable' as const), why: texts }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('problem' as const), sentence: texts }) },
);

test('each transaction makes the bot look once, each conversion is told, and each contradiction and problem is said, however many come in a second; of the rest at most five lines a second, and how many are missing', () => {
  let most = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(news, fc.constantFrom(0, 0, 0, 0, 10, 300, 1_000, 5_000)), { maxLength: 80, size: 'max' }),
      deliveries => {
        let now = 0;
        const { log, lines } = memoryLog();
        const looks: string[] = [];
        const hear = inboxHearing(
          log,
          { moved: () => void looks.push('moved'), converted: id => void looks.push(id) },
          () => now,
        );
        const bySecond = new Map<number, number>();
        const described = () => lines.filter(({ text }) => /^(delivery: |a delivery cannot be read)/.test(text)).length;
        for (const [one, afterMs] of deliveries) {
          now += afterMs;
          const [saidBefore, before] = [lines.length, described()];
          looks.length = 0;
          hear(one);
          const isTransaction = one.kind === 'transaction';
          expect(looks).toEqual(isTransaction ? ['moved', ...(one.quoteId === null ? [] : [one.quoteId])] : []);
          const errors = lines.slice(saidBefore).filter(({ level }) => level === 'error');
          const isError = one.kind === 'problem' || (isTransaction && one.contradictions.length > 0);
          expect(errors.map(({ text }) => text)).toEqual(
            isError
              ? [
                  one.kind === 'problem'
                    ? one.sentence
                    : `the deliveries of ${one.id} contradict each other: ${one.contradictions.join('; ')}; check the account`,
                ]
              : [],
          );
          const second = Math.floor(now / 1_000);
          bySecond.set(second, (bySecond.get(second) ?? 0) + described() - before);
        }
        // The count of those that were not said comes with the next delivery of another second.
        now += 1_000;
        hear({ kind: 'unreadable', why: 'the last' });
        const unsaid = lines.reduce((sum, { known }) => sum + Number(known['unsaid'] ?? 0), 0);
        const wanted = deliveries.filter(([{ kind }]) => kind !== 'problem').length + 1;
        expect(described() + unsaid).toBe(wanted);
        for (const count of bySecond.values()) expect(count).toBeLessThanOrEqual(5);
        most = Math.max(most, ...bySecond.values());
      },
    ),
    runsOf(200, 60),
  );
  expect(most).toBe(5);
});
