/** A request in the state directory of a bot that runs, and its answer: left, waited for, and taken back where nobody takes it up. */
import { existsSync } from 'node:fs';
import { sleep } from '../../core/index.ts';
import type { Clock, Millis } from '../../core/index.ts';
import { UsageError } from '../wiring/usageError.ts';

/** Where both lie. */
export type AskBox<Request, Answer> = {
  waiting(): { readonly id: string; readonly at: Millis; readonly by: string } | null;
  put(request: Request): void;
  take(): void;
  answered(): Answer | null;
};

/** Until the bot takes the request up. */
const HEARD_WITHIN_MS = 10_000;
/** Longer than a bot waits for a good moment, and a change of runs after it. */
const ANSWERED_WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 200;

/** Resolves to the bot's answer. `unheard`: what else to do. Rejects with `UsageError` (code 1) where no bot runs, or it says nothing. */
export async function askBot<Request extends { readonly id: string }, Answer extends { readonly id: string }>(
  dir: string,
  box: AskBox<Request, Answer>,
  request: Request,
  clock: Clock,
  unheard: string,
): Promise<Answer> {
  if (!existsSync(dir))
    throw new UsageError(`${dir}: no such folder; expected the state directory of a bot that runs (state.dir)`);
  const other = box.waiting();
  // One that nobody takes up is left over from a command that was ended.
  if (other !== null && clock.now() - other.at < HEARD_WITHIN_MS)
    throw new UsageError(`${dir}: what ${other.by} asked of it waits to be taken up; ask again in a second`, 1);
  box.put(request);
  const began = clock.elapsed();
  const passed = () => clock.elapsed() - began;
  while (box.waiting()?.id === request.id) {
    if (passed() > HEARD_WITHIN_MS) {
      box.take();
      throw new UsageError(
        `${dir}: no bot took this up within ${HEARD_WITHIN_MS / 1000} s, and it is taken back; is it running, and with this state directory? ${unheard}`,
        1,
      );
    }
    await sleep(clock, LOOK_EVERY_MS);
  }
  for (;;) {
    const answer = box.answered();
    if (answer?.id === request.id) return answer;
    if (passed() > ANSWERED_WITHIN_MS)
      throw new UsageError(`${dir}: the bot has not answered; its log says what it did`, 1);
    await sleep(clock, LOOK_EVERY_MS);
  }
}
