/** `puntas reload`: checks the file, leaves a request in the bot's state directory, and waits for the bot's answer. */
import { existsSync } from 'node:fs';
import type { Clock } from '../../core/index.ts';
import { sleep } from '../../core/index.ts';
import { reloadsIn } from '../../live/state/reloads.ts';
import type { ReloadAnswer } from '../../live/state/reloads.ts';
import { readConfigText } from '../wiring/configFile.ts';
import { UsageError } from '../wiring/usageError.ts';
import { digestOf } from '../run/reloading.ts';

export type ReloadCommand = {
  readonly config: string;
  /** Instead of the one in the file. */
  readonly state?: string;
  /** Of a run --paper, which has a state directory of its own. */
  readonly paper: boolean;
  readonly preview: boolean;
  readonly reason: string;
  readonly by: string;
  /** Never used before. */
  readonly id: string;
};

/** Until the bot takes the request up. */
const HEARD_WITHIN_MS = 10_000;
/** Longer than a bot waits for a good moment, and a change of runs after it. */
const ANSWERED_WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 200;

/** Resolves to the bot's answer. Rejects with `UsageError` on a file with errors, on no bot that runs there, and on one that says nothing. */
export async function askReload(command: ReloadCommand, clock: Clock): Promise<Omit<ReloadAnswer, 'id'>> {
  const { config: file, preview: isPreview, reason, by, id } = command;
  const { config, text } = readConfigText(file);
  const dir = command.state ?? (command.paper ? config.paper.stateDir : config.state.dir);
  if (!existsSync(dir))
    throw new UsageError(`${dir}: no such folder; expected the state directory of a bot that runs (state.dir)`);
  const box = reloadsIn(dir);
  const other = box.waiting();
  // One that nobody takes up is left over from a command that was ended.
  if (other !== null && clock.now() - other.at < HEARD_WITHIN_MS)
    throw new UsageError(`${dir}: what ${other.by} asked of it waits to be taken up; ask again in a second`, 1);
  box.put({ id, at: clock.now(), by, reason, digest: digestOf(text), isPreview });
  const began = clock.elapsed();
  const passed = () => clock.elapsed() - began;
  while (box.waiting()?.id === id) {
    if (passed() > HEARD_WITHIN_MS) {
      box.take();
      throw new UsageError(
        `${dir}: no bot took this up within ${HEARD_WITHIN_MS / 1000} s, and it is taken back; is it running, and with this state directory? One that is started reads the file anyway`,
        1,
      );
    }
    await sleep(clock, LOOK_EVERY_MS);
  }
  for (;;) {
    const answer = box.answered();
    if (answer?.id === id) return answer;
    if (passed() > ANSWERED_WITHIN_MS)
      throw new UsageError(`${dir}: the bot has not answered; its log says what it did`, 1);
    await sleep(clock, LOOK_EVERY_MS);
  }
}
