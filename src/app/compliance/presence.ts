/** `puntas presence`: certificate of quote presence by UTC day, computed from the recordings of a state directory. */
import { DAY_MS, TooLarge, type Millis } from '../../core/index.ts';
import { timeText } from '../../messages/timeText.ts';
import { isPaperState } from '../../live/state/paperMark.ts';
import { UsageError } from '../../wiring/usageError.ts';
import {
  DISK_FULL,
  NOT_REPLAYED,
  NOT_RUNNING,
  presenceOf,
  PresenceTime,
  termsIn,
  type PresenceDay,
  type PresenceTerms,
  type Stop,
} from './quotePresence.ts';
import {
  differenceIn,
  hashOfRecordings,
  replayRuns,
  type RecordedDays,
  type OpenedRun,
  type RecordingEvidence,
  type RunWatcher,
} from './recordedRuns.ts';

/** Exchange of a recorded run; `address` is `null` if the exchange is embedded. */
export type QuotedExchange = { readonly kind: string; readonly address: string | null };

export type PresenceCertificate = {
  readonly book: string;
  /** Base currency, which is the unit of the minimum amount. */
  readonly base: string;
  readonly instance: string;
  /** Exchanges of the replayed runs, each once. */
  readonly exchanges: readonly QuotedExchange[];
  /** Whether the quotes were not on a real exchange: paper trading, or an embedded exchange. */
  readonly isPaper: boolean;
  readonly terms: PresenceTerms;
  readonly days: readonly PresenceDay[];
  readonly stops: readonly Stop[];
  readonly recordings: readonly RecordingEvidence[];
  /** SHA-256 of a text with one line for each recording: file name, number of bytes, and SHA-256 of these bytes. */
  readonly hash: string;
  /** Version of Puntas that replayed the recordings. */
  readonly version: string;
};

export type PresenceAsked = RecordedDays & { readonly terms: PresenceTerms; readonly version: string };

/**
 * Computes the certificate of the selected days.
 * @throws UsageError if these days have no recording, or if the minimum amount is impossible in the book.
 */
export function presenceCertificate(asked: PresenceAsked): PresenceCertificate {
  const { dir, terms, from = -Infinity, to = Infinity, version } = asked;
  const time = new PresenceTime();
  const { opened, recordings, nextStart } = replayRuns(
    dir,
    { from, to: to + DAY_MS },
    run => presenceWatcher(run, terms, time, asked.onInput),
    asked.book,
  );
  // The bot was not running from the end of the last replayed run to the start of the next run.
  if (nextStart !== null) time.change(nextStart, NOT_RUNNING);
  const { instrument, setup } = opened.at(-1)!;
  const exchanges = exchangesOf(opened);
  const days = time.days.filter(day => day.from >= from && day.from <= to);
  if (days.length === 0)
    throw new UsageError(`${dir}: the recordings contain none of the requested days; check --from and --to`);
  const [start, end] = [days[0]!.from, days.at(-1)!.from + DAY_MS];
  return {
    ...{ book: instrument.symbol, base: instrument.major, instance: setup.instance },
    ...{ exchanges, isPaper: isPaperState(dir) || exchanges.some(({ kind }) => kind === 'embedded'), terms, days },
    stops: time.stops.flatMap(({ from: begins, to: ends, reason }) =>
      ends <= start || begins >= end ? [] : [{ from: Math.max(begins, start), to: Math.min(ends, end), reason }],
    ),
    ...{ recordings, hash: hashOfRecordings(recordings), version },
  };
}

function exchangesOf(runs: readonly OpenedRun[]): readonly QuotedExchange[] {
  const all = runs.map(({ setup: { exchange } }): QuotedExchange => {
    return { kind: exchange.kind, address: exchange.kind === 'embedded' ? null : exchange.restUrl };
  });
  return all.filter(({ kind, address }, i) => all.findIndex(one => one.kind === kind && one.address === address) === i);
}

function presenceWatcher(
  { book, instrument }: OpenedRun,
  terms: PresenceTerms,
  time: PresenceTime,
  onInput: PresenceAsked['onInput'],
): RunWatcher {
  const units = unitsOfTerms(instrument, terms);
  let at: Millis | null = null;
  return {
    see: event => {
      at = event.at;
      time.change(at, presenceOf(book, at, units));
      onInput?.(at);
    },
    end: ({ difference, gap }) => {
      if (at !== null) time.change(at, difference !== null ? NOT_REPLAYED : gap ? DISK_FULL : NOT_RUNNING);
    },
  };
}

function unitsOfTerms(instrument: OpenedRun['instrument'], terms: PresenceTerms) {
  try {
    return termsIn(instrument, terms);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    throw new UsageError(`--size-min: expected at most ${error.largest} ${instrument.major}, found ${error.text}`);
  }
}

/** Returns the certificate as one JSON object. Times are in whole milliseconds. Shares are in percent, rounded down. */
export function presenceJson(certificate: PresenceCertificate): object {
  const { book, instance, exchanges, isPaper, terms, days, stops, recordings, hash, version } = certificate;
  return {
    ...{ book, instance, exchanges, isPaper, timezone: 'UTC', dayMs: DAY_MS, terms },
    days: days.map(({ from, bidMs, askMs, bothMs, recordedMs, absences }) => ({
      ...{ day: timeText(from).slice(0, 10), bidMs, askMs, bothMs, recordedMs },
      share: { bid: percentOfDay(bidMs), ask: percentOfDay(askMs), both: percentOfDay(bothMs) },
      absences,
    })),
    stops: stops.map(({ from, to, reason }) => ({ from: timeText(from), to: timeText(to), ms: to - from, reason })),
    ...{ recordings, hash, puntas: version, difference: differenceIn(certificate) },
  };
}

/** Formats `ms` as a percentage of a day, without the percent sign, rounded down, so that only a full day is 100. */
export function percentOfDay(ms: number, decimals = 4): string {
  const unit = 10 ** decimals;
  const parts = Math.floor((ms * 100 * unit) / DAY_MS);
  return `${Math.floor(parts / unit)}.${String(parts % unit).padStart(decimals, '0')}`;
}
