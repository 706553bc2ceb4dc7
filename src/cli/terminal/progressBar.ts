/** A bar on stderr that says how far a long piece of work is, and when it will be done. */
import { SingleBar } from 'cli-progress';
import { NO_PROGRESS } from '../../app/messages/progress.ts';
import type { Progress } from '../../app/messages/progress.ts';

const FORMAT = '[{bar}] {percentage}% | {eta_formatted} | {what}';

/** Draws nothing unless `isShown`, which is for a terminal alone. */
export function progressBar(isShown: boolean): Progress {
  if (!isShown) return NO_PROGRESS;
  const bar = new SingleBar({ format: FORMAT, etaBuffer: 60, formatTime: timeLeft });
  let isOn = false;
  const end = () => {
    if (isOn) bar.stop();
    isOn = false;
  };
  return {
    begin: (total, what) => {
      end();
      bar.start(total, 0, { what });
      isOn = true;
    },
    at: (done, what) => {
      if (isOn) bar.update(Math.floor(done), what === undefined ? {} : { what });
    },
    end,
  };
}

/** What the bar says of the time that is left: the package gives words instead of a number while it cannot tell. */
export function timeLeft(seconds: number | string): string {
  const s = Number(seconds);
  if (!(s >= 0 && s < 360_000)) return 'time left not known yet';
  const [h, m] = [Math.floor(s / 3_600), Math.floor((s % 3_600) / 60)];
  if (h > 0) return `${h} h ${m} min left`;
  return m > 0 ? `${m} min ${Math.floor(s % 60)} s left` : `${Math.ceil(s)} s left`;
}
