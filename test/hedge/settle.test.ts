/** A conversion that nobody can look up, while others move both its currencies: a person settles it, on a running bot or a stopped one. */
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { hedgesIn } from '../../src/app/inspect/hedges.ts';
import { adjust } from '../../src/app/inspect/ledger.ts';
import { hedgeEvidence, settleHedge } from '../../src/app/inspect/settleHedge.ts';
import { replay } from '../../src/app/inspect/replayCheck.ts';
import { moneyOf, type WireRequest } from '../../src/core/index.ts';
import { latchIn } from '../../src/live/safety/latch.ts';
import { ledgerFileIn } from '../../src/live/state/ledgerFile.ts';
import { realClock } from '../../src/live/realClock.ts';
import { openHedgeOf } from '../../src/live/state/stateSummary.ts';
import { NumberedMailbox } from '../../src/live/mailbox/mailbox.ts';
import { doomed, restarted } from '../live/crashes.ts';
import { Folders } from '../live/states.ts';
import { started, type World } from '../live/world.ts';
import { converted, hedgedWorld, isAccept } from './hedgedWorld.ts';

const folders = new Folders();
const worlds: World[] = [];
afterEach(() => worlds.splice(0).forEach(world => world.end()));
afterAll(() => folders.clear());

const clock = realClock();
const unknownIn = (dir: string) => hedgesIn(dir).find(({ state }) => state === 'unknown')!;

function world(seed: number): World {
  const made = hedgedWorld(seed, { venues: ['conversion'], pauseMs: 600_000, costMaxBps: 150 });
  worlds.push(made);
  return made;
}

/** The exchange answers nobody who asks what became of it. */
const isQuestion = ({ method, target }: WireRequest): boolean =>
  method === 'GET' && target.includes('/currency_conversions/');

/** Somebody moves both currencies, and no list tells of it. */
function moveBoth({ box }: World): void {
  const account = box.exchange.venue.accounts.get(box.account.id)!;
  box.exchange.venue.deposit(account, 'btc', moneyOf('0.0123'), null);
  box.exchange.venue.deposit(account, 'mxn', moneyOf('77'), null);
}

describe('a conversion with a lost answer whose currencies both move', () => {
  test.each([
    ['executed', 'unanswered', 1],
    ['failed', 'lost', 0],
  ] as const)(
    'stays unknown until a person says that it was %s: then the ledger has it so, with who and why, and the run replays',
    async (as, fate, count) => {
      const at = world(91);
      const running = await started(at, {
        fate: request => {
          if (isQuestion(request)) return 'lost';
          if (!isAccept(request)) return 'arrives';
          moveBoth(at);
          return fate;
        },
      });
      await at.clock.advance(300_000);
      const { id } = unknownIn(at.stateDir);
      expect(converted(at)).toHaveLength(count);
      const lines = (await hedgeEvidence(at.stateDir, id, clock)).join('\n');
      expect(lines).toMatch(/btc: exchange balance before the hedge: 1\.58 \(.*\); after the hedge: 1\.\d+ \(/);
      expect(lines).toMatch(
        count === 1
          ? /exchange balance minus ledger balance: -0\.0677; expected -0\.08 if executed, 0 if failed/
          : /exchange balance minus ledger balance: 0\.0123; expected -0\.08 if executed, 0 if failed/,
      );
      expect(lines).toMatch(/the balances do not show the outcome; check the account/);
      const said = await settleHedge(at.stateDir, { id, as, reason: 'seen on its web page', by: 'ana' }, clock);
      expect(said.at(-1)).toMatch(new RegExp(`requested by ana: settle ${id} as ${as}; a running bot`));
      await at.clock.advance(15_000);
      const row = hedgesIn(at.stateDir).find(each => each.id === id);
      expect([row?.state, row?.why]).toEqual([
        as === 'executed' ? 'completed' : 'failed',
        `settled as ${as} by ana: seen on its web page`,
      ]);
      expect(new NumberedMailbox(at.stateDir, 'settle').waiting()).toEqual([]);
      const booked = (await ledgerFileIn(at.stateDir, clock))?.entries.filter(
        ({ source }) => source === `conversion ${id}`,
      );
      expect(booked?.map(({ why }) => why)).toEqual(
        count === 1 ? [`settled as executed by ana: seen on its web page`] : [],
      );
      // What the others moved differs still, and is booked as what it is.
      await adjust(at.stateDir, { currency: 'btc', amount: '0.0123', reason: 'from the vault', by: 'ana' }, clock);
      await adjust(at.stateDir, { currency: 'mxn', amount: '77', reason: 'from the vault', by: 'ana' }, clock);
      await at.clock.advance(30_000);
      expect(latchIn(at.stateDir).read()).toBeNull();
      const { summary } = await running.stop();
      expect(summary).toMatchObject({ ledgerMatches: true, openOrdersLeft: 0 });
      expect(replay(at.stateDir, 'all', () => undefined)).toBe(true);
      await expect(settleHedge(at.stateDir, { id, as, reason: 'once more', by: 'ana' }, clock)).rejects.toThrow(
        /only a hedge with an unknown outcome can be settled manually/,
      );
    },
  );

  test('is settled on a stopped bot too: the next one takes it up before it quotes, once', async () => {
    const at = world(92);
    const first = await doomed(at, folders, request => {
      if (!isAccept(request)) return null;
      moveBoth(at);
      return 'unanswered';
    });
    await at.clock.advance(40_000);
    const dir = first.left() ?? first.kill();
    const open = hedgesIn(dir).find(({ state }) => state === 'unknown' || state === 'accepted')!;
    await settleHedge(dir, { id: open.id, as: 'executed', reason: 'seen on its web page', by: 'ana' }, clock);
    const [left] = new NumberedMailbox(dir, 'settle').waiting();
    // Its waiting time is over by the clock of before; the clock may have changed, so the next bot waits once more.
    await at.clock.advance(60_000);
    const second = await restarted(at, dir, { fate: request => (isQuestion(request) ? 'lost' : 'arrives') });
    await at.clock.advance(5_000);
    const isOpen = ['unknown', 'accepted'].includes(hedgesIn(dir).find(({ id }) => id === open.id)!.state);
    expect([isOpen, new NumberedMailbox(dir, 'settle').waiting().length]).toEqual([true, 1]);
    // Until nothing of it can be on its way any more.
    await at.clock.advance(40_000);
    expect(hedgesIn(dir).find(({ id }) => id === open.id)).toMatchObject({
      ...{ state: 'completed', why: 'settled as executed by ana: seen on its web page' },
    });
    expect(second.log.filter(({ text }) => text.includes('is no longer open'))).toEqual([]);
    // A kill before the file was gone leaves it to be taken up again: it is over.
    if (left) new NumberedMailbox(dir, 'settle').put(left);
    await at.clock.advance(5_000);
    const entries = (await ledgerFileIn(dir, clock))?.entries ?? [];
    expect(entries.filter(({ source }) => source === `conversion ${open.id}`)).toHaveLength(1);
    await second.stop();
    await first.running.stop();
  });

  test('is handed on by a run without a hedger, such as the trial order of the doctor: it is as open as it was', async () => {
    const at = world(94);
    const first = await doomed(at, folders, request => (isAccept(request) ? 'lost' : null));
    await at.clock.advance(40_000);
    const dir = first.left() ?? first.kill();
    const open = await openHedgeOf(dir, clock);
    expect(open).not.toBeNull();
    const { hedge: _, ...config } = at.config;
    await settleHedge(dir, { id: open!, as: 'failed', reason: 'not on its web page', by: 'ana' }, clock);
    const second = await restarted(at, dir, { config });
    await at.clock.advance(10_000);
    await second.stop();
    expect(await openHedgeOf(dir, clock)).toBe(open);
    // The settlement waits for a run with a hedger, which applies it.
    expect(new NumberedMailbox(dir, 'settle').waiting()).toHaveLength(1);
    expect(second.log.filter(({ text }) => /settlement of hedge .* waits/.test(text))).toHaveLength(1);
    const third = await restarted(at, dir, { fate: request => (isQuestion(request) ? 'lost' : 'arrives') });
    await at.clock.advance(60_000);
    expect(hedgesIn(dir).find(({ id }) => id === open)).toMatchObject({
      ...{ state: 'failed', why: 'settled as failed by ana: not on its web page' },
    });
    expect(new NumberedMailbox(dir, 'settle').waiting()).toEqual([]);
    await third.stop();
    await first.running.stop();
  });

  test.each([
    [{ id: 'nobody' }, /no hedge nobody in the recordings/],
    [{ reason: ' x ' }, /--reason: expected a few words that say/],
  ])('%j is refused in one line', async (change, says) => {
    const at = world(93);
    const running = await started(at, {
      fate: request => (isAccept(request) || isQuestion(request) ? 'lost' : 'arrives'),
    });
    await at.clock.advance(15_000);
    const { states, offer } = unknownIn(at.stateDir);
    const accepted = states.findLast(({ state }) => state === 'accepted')!;
    // After the first read of the balances that proves something, and before a second one, by which the bot itself decides.
    const { requestDelayMaxMs, tradeReportDelayMaxMs } = at.config.timing;
    const provenAt = accepted.at + Math.max(requestDelayMaxMs, offer!.lifeMs) + tradeReportDelayMaxMs;
    await at.clock.advance(provenAt + 10_000 - at.clock.now());
    const ask = { id: unknownIn(at.stateDir).id, as: 'failed', reason: 'because of it', by: 'ana', ...change } as const;
    await expect(settleHedge(at.stateDir, ask, clock)).rejects.toThrow(says);
    // Nothing moved beside it: the contrary of what the balances say is not taken.
    const contrary = { ...ask, id: unknownIn(at.stateDir).id, as: 'executed', reason: 'it must have been' } as const;
    await expect(settleHedge(at.stateDir, contrary, clock)).rejects.toThrow(
      /the balances contradict the outcome executed/,
    );
    await running.stop();
  });
});
