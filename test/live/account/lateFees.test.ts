/**
 * The account of the bot's own exchange, read by each client that ships over any history of trades, deposits and
 * restarts: every trade is booked once, and the balances never differ from the ledger, in whatever currency fees are.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Engine, randomOf, sumOfCauses, type EngineEvent, type Exchange, type Side } from '../../../src/core/index.ts';
import { BalanceReads } from '../../../src/live/account/balanceReads.ts';
import { Reads } from '../../../src/live/account/reads.ts';
import { ConnectivityLog } from '../../../src/live/connectivityLog.ts';
import { isFailed, type Failed } from '../../../src/live/failedRequest.ts';
import { readFirstBalances, readRules } from '../../../src/live/loop/opening.ts';
import { ledgerOf, textOfLedger } from '../../../src/live/recording/ledgerText.ts';
import { judgmentBy } from '../../../src/live/unreadableRows.ts';
import { VENUES } from '../../../src/wiring/venueRegistry.ts';
import { PATIENCE } from '../../core/toyExchange.ts';
import { binanceThere, embeddedThere, krakenThere, type There } from '../../hedge/botOfTwo.ts';
import { runsOf } from '../../many.ts';
import { memoryLog } from '../../memoryLog.ts';
import { wireTo } from '../inProcess.ts';
import { passing } from '../world.ts';

const BOOK = 'btc_usd';
const WORLDS: Readonly<Record<string, () => There>> = {
  bitso: embeddedThere,
  binance: binanceThere,
  kraken: krakenThere,
};

/** State that a killed process leaves: its ledger, and its position in the list of trades. */
type Left = { readonly ledger: string; readonly marker: string | undefined; readonly tids: readonly string[] };

/** Reads of one account of an exchange, by one process after another. */
class AccountReader {
  readonly #world: There;
  readonly client: Exchange;
  readonly failures: string[] = [];
  #life = 0;
  #left: Left | null = null;
  engine!: Engine;
  #balances!: BalanceReads;

  constructor(world: There) {
    const { clock, exchange } = world;
    this.#world = world;
    this.client = world.connect(1, wireTo({ exchange, clock, random: randomOf(1), deadlineMs: 2_000 }));
  }

  /** A process starts: a new one opens the ledger, a later one continues what the killed one left. */
  async live(): Promise<void> {
    const life = ++this.#life;
    const { clock } = this.#world;
    const client = this.client;
    const time = () => clock.now();
    const rules = await passing(clock, readRules(client, BOOK));
    const engine = Engine.ofOneBook({
      ...{
        instrument: rules.instrument,
        strategy: { quote: () => ({ bids: [], asks: [] }) },
        target: null,
        instance: 'mm',
        run: life,
      },
      limits: {
        positionMax: 1e15,
        orderValueMax: 10n ** 30n,
        ordersMax: 2,
        collarBps: 1_000,
        staleAfterMs: 1,
      } as never,
      tolerance: { priceBps: 0, amountShare: 0.5, maxAgeMs: 3_600_000 },
      ...{ timing: { ...PATIENCE, listWaitMs: 60_000 }, onNews: () => undefined },
    });
    this.engine = engine;
    const { log } = memoryLog();
    const judgment = judgmentBy('mm', engine, log, client);
    const left = this.#left;
    const ledger = left === null ? null : ledgerOf(left.ledger);
    engine.step({ kind: 'restore', at: time(), orders: [], ledger });
    engine.step({ kind: 'rules', at: time(), ...rules });
    const options = { clock, currencies: BOOK.split('_'), zero: [], apartMs: 0 };
    const opening = left === null ? await passing(clock, readFirstBalances(client, options)) : null;
    if (opening !== null) engine.step({ kind: 'balances', at: time(), quiet: true, ...opening });
    const [marker, tids] = left === null ? [opening?.lastTid, []] : [left.marker, left.tids];
    const reads = new Reads(client, BOOK, marker, time, PATIENCE.tradeReportDelayMaxMs, tids, judgment);
    const keep = (): void => {
      const taken = reads.taken;
      this.#left = { ledger: textOfLedger(engine.ledger(taken.tids)!), ...taken };
    };
    // A killed process books nothing more.
    const step = (event: EngineEvent): void => {
      if (life !== this.#life) throw new Error('killed');
      if (event.kind === 'trades') reads.take(event);
      engine.step(event);
      keep();
    };
    const note = (what: string, failed: Failed): void => {
      this.failures.push(`${what}: ${failed.kind === 'unknown' ? failed.reason : failed.message}`);
    };
    const readTrades = async (): Promise<boolean> => {
      const event = await reads.trades();
      if (!isFailed(event)) {
        step(event);
        return event.complete;
      }
      note('trades', event);
      return false;
    };
    this.#balances = new BalanceReads({
      ...{ engine, reads, readTrades, note, persist: () => true, run: { clock, log, time, step } },
      explained: { known: null, listAheadMaxMs: 0 },
      connectivity: new ConnectivityLog(log, clock),
    });
    keep();
  }

  /** Begins a read of trades and balances, which a kill ends. */
  read(): Promise<boolean> {
    return this.#balances.read().catch(() => false);
  }
}

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('sell', 'buy', 'read', 'read', 'dies', 'third'),
    parts: fc.integer({ min: 1_000, max: 99_999 }),
    ms: fc.constantFrom(0, 10, 100, 700, 3_000),
  }),
  { minLength: 1, maxLength: 12 },
);

test.each(VENUES.map(({ name }) => name))(
  'at %s every trade is booked once and balances never differ from the ledger, in whatever currency fees are, over restarts at any step',
  async name => {
    const paid = new Set<string>();
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom('nearest', 'up', 'down'), async (history, rounding) => {
        const world = WORLDS[name]!();
        world.roundBy?.(rounding);
        const { clock } = world;
        for (const [side, price] of [
          ['buy', '50000'],
          ['sell', '50010'],
        ] as const)
          world.offer(side, price, '50');
        const account = new AccountReader(world);
        await account.live();
        let orders = 0;
        const trade = async (side: Side, parts: number) => {
          const price = side === 'sell' ? '50000' : '50010';
          const originId = `other-1-${++orders}`;
          const order = { book: BOOK, side, price, major: `0.${String(parts).padStart(5, '0')}`, originId };
          const placed = await passing(clock, account.client.place({ ...order, timeInForce: 'immediate or cancel' }));
          expect(placed.kind).toBe('done');
        };
        for (const { what, parts, ms } of history) {
          if (what === 'buy' || what === 'sell') await trade(what, parts);
          if (what === 'third') world.payInThird?.();
          if (what === 'read') void account.read();
          if (what === 'dies') await account.live();
          await clock.advance(ms);
          expect(account.engine.account.unexplained).toBeNull();
        }
        await account.live();
        const reads = async () => {
          await clock.advance(5_000);
          return passing(clock, account.read());
        };
        for (let n = 0; n < 20 && !(await reads()); n++);
        await reads();
        const { engine, failures } = account;
        expect(engine.account.differences()).toEqual([]);
        expect([engine.book.haltedBecause, engine.account.isReconciled]).toEqual([null, true]);
        const { causes } = engine.ledger([])!;
        for (const [currency, sum] of world.balances())
          if (causes.has(currency)) expect([currency, sumOfCauses(causes.get(currency)!)]).toEqual([currency, sum]);
        const fees = new Map(
          [...causes].flatMap(([name, row]) => (row.fees === 0n ? [] : [[name, -row.fees] as const])),
        );
        expect(fees).toEqual(new Map([...world.fees()].filter(([, sum]) => sum > 0n)));
        for (const currency of fees.keys()) paid.add(currency);
        expect(failures.filter(text => text.includes('fees_currency'))).toEqual([]);
      }),
      { ...runsOf(150, 15), seed: 29 },
    );
    if (WORLDS[name]!().payInThird) expect(paid).toContain('bnb');
  },
);
