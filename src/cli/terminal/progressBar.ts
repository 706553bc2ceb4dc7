/** Progress and remaining time of a long task, on stderr: a bar on a terminal, otherwise an occasional line. */
import type { WriteStream } from 'node:tty';
import { SingleBar } from 'cli-progress';
import type { Progress } from '../../messages/progress.ts';
import { errorStream, errorTerminal, writeError } from './output.ts';

const FORMAT = '[{bar}] {percentage}% | {eta_formatted} | {what}';
/** Time before any progress is shown, in ms. */
const BAR_AFTER_MS = 1_000;
const LINE_AFTER_MS = 2_000;
const LINE_EVERY_MS = 60_000;

/** Time without progress after which the display says so, in ms. */
const STALLED_AFTER_MS = 10_000;

type Out = { write(text: string): unknown; readonly isTTY?: boolean };

/**
 * Returns stderr as a stream if it is a terminal, where a bar moves the cursor. Otherwise returns a writer of lines,
 * which are dropped if they cannot be written.
 */
const errorOut = (): Out => (errorTerminal().isTTY === true ? errorStream() : { write: text => writeError(text) });

/** Returns the progress display. `now` returns monotonic ms. */
export const progressBar = (to: Out = errorOut(), now = (): number => performance.now()): Progress =>
  to.isTTY === true ? barOn(to as WriteStream, now) : linesTo(to, now);

function barOn(stream: WriteStream, now: () => number): Progress {
  const bar = new SingleBar({ stream, format: FORMAT, etaBuffer: 60, formatTime: timeLeft });
  let [total, what, began] = [0, '', 0];
  let isOn = false;
  const stall = stallOf(now);
  const end = () => {
    if (isOn) bar.stop();
    isOn = false;
    total = 0;
  };
  return {
    begin: (all, about, advice) => {
      end();
      stall.begin(advice);
      [total, what, began] = [all, about, now()];
    },
    at: (done, about = what) => {
      what = about;
      const stalled = stall.at(done);
      if (isOn) bar.update(Math.floor(done), { what: stalled === null ? what : `${what} | ${stalled}` });
      else if (total > 0 && now() - began >= BAR_AFTER_MS) {
        bar.start(total, Math.floor(done), { what });
        isOn = true;
      }
    },
    end,
  };
}

/**
 * Returns a display in lines: the first after two seconds. The interval then doubles from line to line, up to one
 * minute.
 */
function linesTo(stream: Out, now: () => number): Progress {
  let [total, what, began, due] = [0, '', 0, 0];
  const stall = stallOf(now);
  return {
    begin: (all, about, advice) => {
      stall.begin(advice);
      [total, what, began] = [all, about, now()];
      due = began + LINE_AFTER_MS;
    },
    at: (done, about = what) => {
      what = about;
      const time = now();
      const stalled = stall.at(done);
      if (total === 0 || time < due) return;
      const spent = time - began;
      due = time + Math.min(spent, LINE_EVERY_MS);
      const share = Math.min(1, done / total);
      const left = stalled ?? timeLeft(((spent / 1_000) * (1 - share)) / share);
      stream.write(`${what === '' ? '' : `${what}: `}${Math.floor(100 * share)}%, ${left}\n`);
    },
    end: () => {
      total = 0;
    },
  };
}

/** Returns a watch over the progress of a task: `at` returns a text while there is none, otherwise `null`. */
function stallOf(now: () => number): { begin(advice?: string): void; at(done: number): string | null } {
  let [last, since, then] = [Number.NaN, 0, ''];
  return {
    begin: (advice = '') => {
      [last, since, then] = [Number.NaN, now(), advice === '' ? '' : `; ${advice}`];
    },
    at: done => {
      if (done !== last) [last, since] = [done, now()];
      const ms = now() - since;
      return ms < STALLED_AFTER_MS ? null : `no progress for ${Math.floor(ms / 1_000)} s${then}`;
    },
  };
}

/** Returns the remaining time as text; `seconds` is text such as `NULL` or `INF` if the time is unknown. */
export function timeLeft(seconds: number | string): string {
  const s = Number(seconds);
  if (!(s >= 0 && s < 360_000)) return 'time left unknown';
  const [h, m] = [Math.floor(s / 3_600), Math.floor((s % 3_600) / 60)];
  if (h > 0) return `${h} h ${m} min left`;
  return m > 0 ? `${m} min ${Math.floor(s % 60)} s left` : `${Math.ceil(s)} s left`;
}
