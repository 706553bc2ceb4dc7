/** Proposals on a real state directory: nothing happens until a person approves; then once, and only as it was proposed. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import { previewAction } from '../../../src/app/actions/previewAction.ts';
import {
  OPEN_PROPOSALS_MAX,
  PROPOSAL_MS,
  ProposalDesk,
  PROPOSALS_PER_MINUTE,
  type ProposalRequest,
} from '../../../src/app/actions/proposalDesk.ts';
import { proposalsIn, rejectProposal, reviewProposal } from '../../../src/app/actions/proposals.ts';
import { newProposalId } from '../../../src/app/console/consoleProposals.ts';
import { API_PROPOSED } from '../../../src/console/apiSchemas.ts';
import { digestOf } from '../../../src/app/run/reloading.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { PROPOSAL_ID, PROPOSED_ACTIONS } from '../../../src/live/mailbox/kinds.ts';
import { NumberedMailbox } from '../../../src/live/mailbox/mailbox.ts';
import { bookLatchIn, booksWithLatches } from '../../../src/live/safety/bookLatch.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { runsOf } from '../../many.ts';
import { Folders } from '../../live/states.ts';

const folders = new Folders();
afterAll(() => folders.clear());

const ANA = { by: 'Ana', via: 'command' } as const;
const pause: ProposalRequest = { action: 'pause', reason: 'odd fills', agent: 'a helper', minutes: 30 };

let dir: string;
let clock: VirtualClock;
beforeEach(() => {
  dir = folders.fresh();
  mkdirSync(dir, { mode: 0o700 });
  clock = new VirtualClock();
});

const bot = () => ({ stateDir: dir });
const preview = async (ask: Parameters<typeof previewAction>[1]) => (await previewAction(bot(), ask, clock)).lines;
const desk = () => new ProposalDesk({ bot: bot(), clock, preview, newId: newProposalId });
const review = (of: { id: string; digest: string }, who: Parameters<typeof reviewProposal>[2] = ANA) =>
  reviewProposal(bot(), of, who, clock, preview);
const stops = () => [latchIn(dir).read(), latchIn(dir).readPause(), latchIn(dir).readReduce()];

/** Clock that calls a function at each reading. */
class HookedClock extends VirtualClock {
  readonly #onNow: () => void;
  constructor(onNow: () => void) {
    super();
    this.#onNow = onNow;
  }
  override now(): number {
    this.#onNow();
    return super.now();
  }
}
const NO_STOPS = [null, null, null];

describe('a proposal', () => {
  test('has no effect, is listed with its preview, and survives a restart of the console', async () => {
    const made = await desk().propose(pause);
    expect([stops(), actionsIn(dir)]).toEqual([NO_STOPS, []]);
    expect(made).toMatchObject({ ...pause, state: 'open', by: null });
    expect(made.id).toMatch(PROPOSAL_ID);
    expect(made.lines).toEqual([expect.stringMatching(/^no bot is running/)]);
    expect(desk().list()).toEqual([made]);
  });

  test('is executed when a person approves it, and the journal names agent, proposal and person', async () => {
    const { id, digest } = await desk().propose(pause);
    const { lines, approve } = await review({ id, digest });
    expect(lines).toEqual([expect.stringMatching(/^no bot is running/)]);
    expect(stops()).toEqual(NO_STOPS);
    expect(await approve()).toMatchObject({ end: 'done' });
    expect(latchIn(dir).readPause()).toMatchObject({ reason: 'odd fills', who: 'Ana', until: clock.now() + 1_800_000 });
    expect(actionsIn(dir)).toMatchObject([
      { id, by: 'Ana', via: 'agent', agent: 'a helper', action: 'pause', reason: 'odd fills', end: 'done' },
    ]);
    expect(desk().list()).toMatchObject([{ id, state: 'done', by: 'Ana', result: [expect.any(String)] }]);
  });

  test('is executed once, however many persons approve it at the same time, also after a restart', async () => {
    const { id, digest } = await desk().propose(pause);
    const reviews = await Promise.all([review({ id, digest }), review({ id, digest }, { by: 'Luz', via: 'console' })]);
    const ends = await Promise.all(reviews.map(({ approve }) => approve()));
    expect(ends.map(({ end }) => end).sort()).toEqual(['done', 'refused']);
    expect(await reviews[0].approve()).toMatchObject({ end: 'refused' });
    await expect(review({ id, digest })).rejects.toThrow(/has already decided/);
    expect(actionsIn(dir)).toHaveLength(1);
    // Without the record of the decision, the action journal still has the id.
    rmSync(join(dir, `decision-${id}.json`));
    await expect(review({ id, digest })).rejects.toThrow(/has already decided/);
  });

  test.each<[string, (file: string) => void]>([
    ['empty', file => writeFileSync(file, '', { mode: 0o600 })],
    ['half written', file => writeFileSync(file, '{"at":1,"by"', { mode: 0o600 })],
  ])('whose decision is %s after a crash is never executed', async (_, left) => {
    const { id, digest } = await desk().propose(pause);
    const { approve } = await review({ id, digest });
    left(join(dir, `decision-${id}.json`));
    expect(await approve()).toMatchObject({ end: 'refused' });
    expect([stops(), actionsIn(dir)]).toEqual([NO_STOPS, []]);
    expect(desk().list()).toMatchObject([{ state: 'approved', by: 'unknown' }]);
  });

  test('that a person rejects cannot be approved', async () => {
    const { id, digest } = await desk().propose(pause);
    const { approve } = await review({ id, digest });
    rejectProposal(bot(), { id, digest }, ANA, clock.now());
    expect(await approve()).toEqual({ end: 'refused', lines: [`${id}: Ana has already decided`] });
    expect(desk().list()).toMatchObject([{ state: 'rejected', by: 'Ana' }]);
    expect(stops()).toEqual(NO_STOPS);
  });

  test('expires, also during its review, and when the clock is set back', async () => {
    const { id, digest } = await desk().propose(pause);
    const { approve } = await review({ id, digest });
    await clock.advance(PROPOSAL_MS);
    expect(await approve()).toEqual({ end: 'refused', lines: [expect.stringMatching(/has expired/)] });
    await expect(review({ id, digest })).rejects.toThrow(/has expired/);
    const later = await desk().propose(pause);
    clock.step(-3_600_000);
    await expect(review(later)).rejects.toThrow(/has expired/);
    expect(stops()).toEqual(NO_STOPS);
  });

  test('is refused once what its effect depends on has changed, before or during its review', async () => {
    const made = await desk().propose(pause);
    const { approve } = await review(made);
    latchIn(dir).set({ reason: 'drawdown', at: clock.now(), by: 'bot' });
    expect(await approve()).toMatchObject({ end: 'refused', lines: [expect.stringMatching(/have changed/)] });
    await expect(review(made)).rejects.toThrow(/have changed since the proposal/);
    expect(actionsIn(dir)).toEqual([]);
  });

  test('of a reload is bound to the content of the file', async () => {
    const config = join(dir, '..', `${newProposalId()}.yaml`);
    const shipped = readFileSync(shippedConfig('sandbox'), 'utf8');
    writeFileSync(config, shipped);
    const own = { stateDir: dir, configFile: config };
    const told = async () => ['no bot is running'];
    const { id, digest } = await new ProposalDesk({
      ...{ bot: own, clock, preview: told, newId: newProposalId },
    }).propose({ ...pause, action: 'reload', minutes: null });
    const { approve } = await reviewProposal(own, { id, digest }, ANA, clock, told);
    writeFileSync(config, `${shipped}\n# changed`);
    expect(await approve()).toMatchObject({
      end: 'refused',
      lines: [expect.stringMatching(/configuration file have/)],
    });
    rmSync(config);
    await expect(desk().propose({ ...pause, action: 'reload', minutes: null })).rejects.toThrow(/-c FILE/);
  });

  test('of a reload sends the content that the person has seen, also if the file is replaced during the preview or after the claim', async () => {
    const config = join(dir, '..', `${newProposalId()}.yaml`);
    const shipped = readFileSync(shippedConfig('sandbox'), 'utf8');
    const own = { stateDir: dir, configFile: config };
    const asked: unknown[] = [];
    const other = () => writeFileSync(config, `${shipped}\n# other`);
    const made = async () => {
      writeFileSync(config, shipped);
      const desk = new ProposalDesk({ bot: own, clock, preview, newId: newProposalId });
      return desk.propose({ ...pause, action: 'reload', minutes: null });
    };
    const seen = async (ask: Parameters<typeof preview>[0]) => {
      asked.push('digest' in ask ? ask.digest : null);
      return ['no bot is running'];
    };
    // The third reading of the clock is that of the request for the preview.
    let reads = 0;
    const first = await made();
    const early = new HookedClock(() => void (++reads === 3 && other()));
    const { approve } = await reviewProposal(own, first, ANA, early, seen);
    expect(asked).toEqual([digestOf(shipped)]);
    expect(await approve()).toMatchObject({ end: 'refused', lines: [expect.stringMatching(/have changed/)] });
    const second = await made();
    const late = new HookedClock(() => void (existsSync(join(dir, `decision-${second.id}.json`)) && other()));
    const review = await reviewProposal(own, second, ANA, late, seen);
    expect(await review.approve()).toMatchObject({
      ...{ end: 'refused', lines: [expect.stringMatching(/changed since the preview/)] },
    });
    expect(actionsIn(dir)).toMatchObject([{ id: second.id, end: 'refused' }]);
    expect(readdirSync(dir)).not.toContain('reload.json');
  });

  test('whose file was changed cannot be approved, whichever character it is', async () => {
    const { id, digest } = await desk().propose(pause);
    const file = join(dir, `proposal-${id}.json`);
    const text = readFileSync(file, 'utf8');
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length - 1), fc.constantFrom(...'0a9"}'), async (at, sign) => {
        fc.pre(text[at] !== sign);
        writeFileSync(file, text.slice(0, at) + sign + text.slice(at + 1), { mode: 0o600 });
        await expect(review({ id, digest })).rejects.toThrow();
      }),
      runsOf(300, 60),
    );
    writeFileSync(file, text, { mode: 0o600 });
    await review({ id, digest });
  });

  test.each(['', 'abc', 'f'.repeat(64), '../../HALTED'])('is not approved by the digest %j', async digest => {
    const { id } = await desk().propose(pause);
    await expect(review({ id, digest })).rejects.toThrow(/the digest is not that of the proposal/);
  });

  test.each(['p-', '../../../etc/passwd', 'p-abcdefgh23', '__proto__', 'p-abcdefgh2/'])(
    'with the id %j is none',
    async id => {
      await expect(review({ id, digest: 'f'.repeat(64) })).rejects.toThrow(/no proposal has this id/);
    },
  );
});

describe('the desk', () => {
  test('on one of several books acts on this book alone, and its book cannot be changed afterwards', async () => {
    const several = { stateDir: dir, configFile: shippedConfig('desk') };
    const shown = async (ask: Parameters<typeof previewAction>[1]) => (await previewAction(several, ask, clock)).lines;
    const own = new ProposalDesk({ bot: several, clock, preview: shown, newId: newProposalId });
    const one: ProposalRequest = { ...pause, book: 'eth_mxn' };
    for (const action of ['cancel', 'reload'])
      await expect(own.propose({ ...one, action, minutes: null })).rejects.toThrow(/applies to the whole bot/);
    await expect(own.propose({ ...one, book: 'xrp_mxn' })).rejects.toThrow(/expected a book of this bot/);
    const latch = bookLatchIn(dir, 'eth_mxn');
    for (const [action, read] of [
      ['pause', () => latch.readPause()],
      ['reduce', () => latch.readReduce()],
      ['halt', () => latch.read()],
    ] as const) {
      const { id, digest, book } = await own.propose({ ...one, action, minutes: action === 'pause' ? 30 : null });
      expect([book, own.list()[0]!.book]).toEqual(['eth_mxn', 'eth_mxn']);
      const path = join(dir, `proposal-${id}.json`);
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, text.replace('eth_mxn', 'btc_mxn'), { mode: 0o600 });
      await expect(reviewProposal(several, { id, digest }, ANA, clock, shown)).rejects.toThrow(/was changed after/);
      writeFileSync(path, text, { mode: 0o600 });
      const { approve } = await reviewProposal(several, { id, digest }, ANA, clock, shown);
      expect(await approve()).toMatchObject({ end: 'done' });
      expect(actionsIn(dir).at(-1)).toMatchObject({ id, action, book: 'eth_mxn', via: 'agent' });
      expect(read()).toMatchObject({ reason: 'odd fills' });
      expect([stops(), booksWithLatches(dir)]).toEqual([NO_STOPS, ['eth_mxn']]);
    }
  });

  test('takes only actions that lower the risk, and a reload', async () => {
    expect(PROPOSED_ACTIONS).toEqual(API_PROPOSED);
    for (const action of ['resume', 'flatten', 'PAUSE', '__proto__', ''])
      await expect(desk().propose({ ...pause, action })).rejects.toThrow(/expected one of/);
    await expect(desk().propose({ ...pause, action: 'halt' })).rejects.toThrow(/only valid for a pause/);
    await expect(desk().propose({ ...pause, reason: '\u200b\u200b\u200b\u200b' })).rejects.toThrow(/--reason/);
  });

  test('has at most so many open proposals and requests per minute, and says so', async () => {
    const one = desk();
    for (let at = 0; at < OPEN_PROPOSALS_MAX; at++) await one.propose(pause);
    await expect(one.propose(pause)).rejects.toThrow(/5 proposals are open \(maximum 5\)/);
    for (let at = OPEN_PROPOSALS_MAX + 1; at < PROPOSALS_PER_MINUTE; at++) await one.preview(pause);
    await expect(one.preview(pause)).rejects.toThrow(/at most 10 proposals and previews per minute/);
    await clock.advance(60_000);
    await one.preview(pause);
    await expect(Promise.all([one.preview(pause), one.preview(pause)])).rejects.toThrow(/is under way/);
  });

  test('keeps the last closed proposals only, and no decision without its proposal', async () => {
    const one = desk();
    const open = await one.propose(pause);
    const ids: string[] = [];
    for (let n = 0; n < 60; n++) {
      await clock.advance(10_000);
      const { id, digest } = await one.propose(pause);
      rejectProposal(bot(), { id, digest }, ANA, clock.now());
      ids.push(id);
    }
    await clock.advance(10_000);
    const made = await one.propose(pause);
    const all = proposalsIn(bot(), clock.now());
    expect(all.map(({ id }) => id)).toEqual([made.id, ...ids.slice(-50).toReversed(), open.id]);
    expect(
      new NumberedMailbox(dir, 'decision')
        .waiting()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids.slice(-50).sort());
  });

  test('shows the first lines of a long preview, within a number of lines and characters, and how many it leaves out', async () => {
    // Lines of one length: the limits are 500 characters of a line, 12,000 of all of them, and 100 lines.
    const shape = fc.oneof(
      fc.record({ count: fc.integer({ min: 0, max: 130 }), length: fc.integer({ min: 0, max: 130 }) }),
      fc.record({ count: fc.integer({ min: 20, max: 28 }), length: fc.integer({ min: 450, max: 520 }) }),
      fc.record({ count: fc.constantFrom(99, 100, 101, 102), length: fc.constantFrom(1, 119, 120, 121) }),
    );
    await fc.assert(
      fc.asyncProperty(shape, async ({ count, length }) => {
        const made = Array.from({ length: count }, (_, i) => `${i}`.padEnd(length, 'x').slice(0, length));
        const one = new ProposalDesk({ bot: bot(), clock, preview: async () => made, newId: newProposalId });
        const cut = made.map(line => line.slice(0, 500));
        let shown = 0;
        while (shown < Math.min(count, 100) && cut.slice(0, shown + 1).join('').length <= 12_000) shown++;
        const more = count - shown === 1 ? 'and 1 more line' : `and ${count - shown} more lines`;
        expect(await one.preview(pause)).toEqual([...cut.slice(0, shown), ...(shown === count ? [] : [more])]);
      }),
      runsOf(300, 60),
    );
  });

  test('makes no preview while the list of open proposals is full, and asks for another one if the stops change meanwhile', async () => {
    let previews = 0;
    let during = (): void => undefined;
    const one = new ProposalDesk({
      ...{ bot: bot(), clock, newId: newProposalId },
      preview: async ask => {
        previews++;
        during();
        return preview(ask);
      },
    });
    during = () => latchIn(dir).setReduce({ reason: 'a look at it', at: 0, by: 'person', who: 'Ana' });
    await expect(one.propose(pause)).rejects.toThrow(/the state of the bot changed during the preview/);
    expect(one.list()).toEqual([]);
    during = () => undefined;
    for (let n = 0; n < OPEN_PROPOSALS_MAX; n++) {
      const { at, expiresAt } = await one.propose(pause);
      expect(expiresAt - at).toBe(PROPOSAL_MS);
    }
    await expect(one.propose(pause)).rejects.toThrow(/are open/);
    expect(previews).toBe(1 + OPEN_PROPOSALS_MAX);
  });

  test('is refused if others fill the list while it is previewed', async () => {
    const other = desk();
    const one = new ProposalDesk({
      ...{ bot: bot(), clock, newId: newProposalId },
      preview: async ask => {
        for (let n = 0; n < OPEN_PROPOSALS_MAX; n++) await other.propose(pause);
        return preview(ask);
      },
    });
    await expect(one.propose(pause)).rejects.toThrow(/are open/);
    expect(proposalsIn(bot(), clock.now())).toHaveLength(OPEN_PROPOSALS_MAX);
  });

  test('stores texts of an agent on one line, without control characters', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 600 }), async text => {
        await clock.advance(PROPOSAL_MS);
        const made = await desk().propose({ ...pause, reason: `seen: ${text}`, agent: `a${text}` });
        expect(made.reason + made.agent).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        expect(made.agent.length).toBeLessThan(130);
        expect(desk().list()[0]).toEqual(made);
        await review(made);
      }),
      runsOf(200, 30),
    );
  });
});
