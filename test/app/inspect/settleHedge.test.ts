/** Proof by the balances in the recordings about a hedge of unknown outcome. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { hedgeEvidence, settleHedge } from '../../../src/app/inspect/settleHedge.ts';
import {
  money,
  moneyOf,
  sumOfCauses,
  textOfMoney,
  type HedgeRow,
  type HedgeState,
  type Millis,
} from '../../../src/core/index.ts';
import { LineWriter } from '../../../src/live/recording/recording.ts';
import { readRecording, recorderIn, recordingsIn } from '../../../src/live/recording/recordings.ts';
import { realClock } from '../../../src/live/realClock.ts';
import { ledgerFileIn } from '../../../src/live/state/ledgerFile.ts';
import { started, worldOf } from '../../live/world.ts';
import { runsOf } from '../../many.ts';

const clock = realClock();
const world = worldOf(5);
const dir = world.stateDir;
afterAll(() => world.end());

/** Leaves the ledger of a run and removes its recordings. */
async function ledgerOnly() {
  const running = await started(world);
  await world.clock.advance(3_000);
  await running.stop();
  const [{ run } = { run: 0 }] = recordingsIn(dir);
  const { setup } = readRecording(dir, run)!.of;
  clear();
  const { causes } = (await ledgerFileIn(dir, clock))!;
  const heldOf = (currency: string): bigint => sumOfCauses(causes.get(currency)!);
  return { setup, btc: heldOf('btc'), mxn: heldOf('mxn') };
}
const clear = (): void => recordingsIn(dir).forEach(({ run }) => rmSync(join(dir, `run-${run}.rec`)));

const GAVE = moneyOf('0.08');
const GOT = moneyOf('120000');
const offer = (id: string): HedgeRow['offer'] => ({
  ...{ way: 'conversion', id, lifeMs: 5_000 },
  give: { currency: 'btc', amount: textOfMoney(GAVE) },
  get: { currency: 'mxn', amount: textOfMoney(GOT) },
});
const rowOf = (id: string, at: Millis, state: HedgeState, leg: 1 | 2 | null): HedgeRow => ({
  ...{ id, at, state, amount: '0.08', weighed: [], acceptedAt: null, conversionId: null, why: null },
  offer: state === 'requested' ? null : offer(id),
  ...(leg === null ? {} : { route: { via: 'usd', leg, holds: '1', worth: '1', least: '1', until: null } }),
});

/** States of a hedge, each with its leg, until nobody knows its outcome. */
const PATHS: readonly (readonly (readonly [HedgeState, 1 | 2 | null])[])[] = [
  [['requested', null], ['quoted', null], ['accepted', null], ['unknown', null]], // prettier-ignore
  [['requested', null], ['accepted', null]], // prettier-ignore
  [['requested', 1], ['accepted', 1], ['executing', 1], ['between', 1], ['accepted', 2], ['unknown', 2]], // prettier-ignore
];
/** Amounts that a read of the balances finds: the ledger's, those after the conversion, the ledger's of one currency only, or others. */
type Found = 'failed' | 'completed' | 'half' | null;
const step = fc.record({
  afterMs: fc.constantFrom(0, 1, 3_000),
  what: fc.constantFrom<'hedge' | 'other' | 'read' | 'run'>('hedge', 'hedge', 'read', 'read', 'other', 'run'),
  found: fc.constantFrom<Found>('failed', 'completed', 'half', null),
});

test('balances are evidence only if those of both currencies were read after the last acceptance, in whichever run', async () => {
  const held = await ledgerOnly();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...PATHS),
      fc.array(step, { minLength: 4, maxLength: 14 }),
      fc.array(step, { maxLength: 2 }),
      async (path, steps, afterwards) => {
        clear();
        let [at, run, done, other] = [1_700_000_000_000, 1, 0, 0];
        let acceptedAt = Infinity;
        const reads: { readonly at: Millis; readonly found: Found; readonly btc: bigint }[] = [];
        const writer = new LineWriter();
        let recorder = recorderIn(dir, { run, startedAt: at, setup: held.setup, format: 2 });
        const hedge = (id: string, [state, leg]: (typeof PATHS)[number][number]): void =>
          recorder.write([writer.input({ kind: 'hedge', at, row: rowOf(id, at, state, leg) })]);
        const rest = path.map(() => ({ afterMs: 7, what: 'hedge', found: null }) as const);
        for (const { afterMs, what, found } of [...steps, ...rest, ...afterwards]) {
          at += afterMs;
          if (what === 'run') {
            recorder.close();
            recorder = recorderIn(dir, { run: ++run, startedAt: at, setup: held.setup, format: 2 });
          } else if (what === 'hedge' && done < path.length) {
            if (path[done]![0] === 'accepted') acceptedAt = at;
            hedge('this', path[done++]!);
          } else if (what === 'other') {
            const [state, leg] = PATHS[0]![other++ % 3]!;
            hedge('other', [state, leg]);
          } else if (what === 'read') {
            const btc = found === 'completed' ? held.btc - GAVE : found === null ? held.btc + 1n : held.btc;
            const mxn = found === 'completed' ? held.mxn + GOT : found === 'failed' ? held.mxn : held.mxn + 1n;
            const balance = (currency: string, sum: bigint) => {
              const total = textOfMoney(money(sum));
              return { currency, available: total, locked: '0', total };
            };
            const balances = [balance('btc', btc), ...(found === 'half' ? [] : [balance('mxn', mxn)])];
            recorder.write([writer.input({ kind: 'balances', at: at + 5_000, startedAt: at, balances } as never)]);
            reads.push({ at, found, btc });
          }
        }
        recorder.close();
        const last = reads.at(-1);
        const says = last !== undefined && last.at > acceptedAt && last.found !== 'half' ? last.found : null;
        const before = reads.findLast(one => one.at < acceptedAt);
        const text = (await hedgeEvidence(dir, 'this', clock)).join('\n');
        expect(text).toContain(
          says === null
            ? 'the balances do not show the outcome'
            : `outcome according to the balances: ${says === 'completed' ? 'executed' : 'failed'}`,
        );
        expect(text).toContain(
          `btc: exchange balance before the hedge ${before === undefined ? 'never read' : textOfMoney(money(before.btc))}`,
        );
        if (says === null) return;
        const contrary = says === 'completed' ? 'failed' : 'executed';
        const ask = { id: 'this', as: contrary, reason: 'the contrary', by: 'ana' } as const;
        await expect(settleHedge(dir, ask, clock)).rejects.toThrow(`the balances contradict the outcome ${contrary}`);
      },
    ),
    {
      ...runsOf(1_000, 25),
      examples: [[PATHS[0]!, [], [{ afterMs: 3_000, what: 'read', found: 'half' }]]],
    },
  );
});
