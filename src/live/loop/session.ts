/** One run of the bot from its first read to its clean end: journal, latch, engine and loop, wired the same way live, boxed and simulated. */
import type { Engine, EngineNews, Instrument, Millis } from '../../core/index.ts';
import { stubbornLatch } from '../safety/latch.ts';
import { Loop } from './loop.ts';
import type { RunParts, StopReport } from './loopOptions.ts';
import { CannotStart, readFirstBalances, readRules } from './opening.ts';
import type { Opening } from './opening.ts';
import type { Rules } from '../rules.ts';
import type { Journal } from '../state/journal.ts';
import { inUnitsOf } from '../state/units.ts';

export type SessionOptions = RunParts & {
  /** Makes the engine of a run once the rules are known. Throws in one line when it must not start. */
  readonly makeEngine: (rules: Rules, onNews: (news: EngineNews) => void, run: number) => Engine;
  /** When they have just been read; absent: they are read here. */
  readonly rules?: Rules;
  /** Told the engine's news as it happens. */
  readonly onNews?: (news: EngineNews, rules: Rules) => void;
  /** Currencies that the account holds none of, by the operator's word: the exchange need not list them. */
  readonly openingZero?: readonly string[];
  /** Time between the two equal readings of the balances that open a ledger; none if absent. */
  readonly openingApartMs?: Millis;
};

export type Session = {
  readonly rules: Rules;
  readonly engine: Engine;
  readonly loop: Loop;
  /** Begins to quote. `onFailure` is called once when something broke: then stop. */
  start(onFailure: () => void): void;
  /** `isFollowed`: another run compares the balances before anything is quoted. */
  stop(isFollowed?: boolean): Promise<StopReport>;
};

/** Reads what a start needs. Rejects with `CannotStart` when the exchange does not let it. */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { clock, log } = options;
  const { exchange } = options.venue;
  const latch = stubbornLatch(options.state.latch, log);
  const rules = options.rules ?? (await readRules(exchange, options.bot.book));
  const journal = inUnits(options.state.journal, rules.instrument);
  const now = () => loop.time();
  const onNews = (news: EngineNews) => {
    if (news.kind === 'order' && news.news.kind === 'ended') journal.ended(news.news.order.id, news.news.ending);
    if (news.kind === 'halted') latch.set({ reason: news.reason, at: now(), by: 'bot' });
    loop.heard(news);
    try {
      options.onNews?.(news, rules);
    } catch (error) {
      // To tell is no part of a turn: the engine ends it and its commands are recorded before the loop hears that something broke.
      void Promise.resolve().then(() => loop.broke(error));
    }
  };
  const engine = options.makeEngine(rules, onNews, journal.run);
  const opening: Opening =
    journal.leftovers.ledger === null
      ? {
          kind: 'fresh',
          ...(await readFirstBalances(exchange, {
            clock,
            currencies: currenciesOf(rules),
            zero: options.openingZero ?? [],
            apartMs: options.openingApartMs ?? 0,
          })),
        }
      : {
          kind: 'restored',
          lastTid: journal.leftovers.marker,
          tids: [...journal.leftovers.ledger.seen.keys()],
        };
  const state = { ...options.state, journal, latch };
  const loop: Loop = new Loop({ ...options, state, engine, start: { rules, opening } });
  return { rules, engine, loop, start: onFailure => loop.start(onFailure), stop: isFollowed => loop.stop(isFollowed) };
}

const currenciesOf = ({ instrument }: Rules): readonly string[] => [instrument.major, instrument.minor];

/** The journal with what earlier runs left in units of the book as it is now. Throws `CannotStart` for what these cannot count. */
function inUnits(journal: Journal, instrument: Instrument): Journal {
  const { leftovers } = journal;
  try {
    return { ...journal, leftovers: inUnitsOf(leftovers, leftovers.units, instrument) };
  } catch (error) {
    if (error instanceof RangeError) throw new CannotStart(error.message);
    throw error;
  }
}
