/**
 * Request to a running bot through its state directory. The command writes the request and waits for the answer. The
 * command withdraws a request that the bot does not accept.
 */
import { sleep, type Clock, type Millis } from '../../core/index.ts';
import { isThere, readHeartbeat, Watch } from '../../live/safety/heartbeat.ts';
import { requireStateFolder, UsageError } from '../../wiring/usageError.ts';

/** Files of a request and its answer. */
export type AskBox<Request, Answer> = {
  waiting(): { readonly id: string; readonly at: Millis; readonly by: string } | null;
  put(request: Request): void;
  take(): void;
  answered(): Answer | null;
};

/** Error for a request that a bot accepted but did not answer; its outcome is unknown. */
export class UnansweredRequest extends UsageError {}

/** Error for a request that no running bot can answer: none accepted it, or the bot has ended. */
export class AbsentBot extends UsageError {}

/** Time for the bot to accept the request, in ms. */
const HEARD_WITHIN_MS = 10_000;
/**
 * Maximum wait for the answer, in ms. The maximum exceeds the time in which a bot resolves unknown order outcomes and
 * then changes runs.
 */
const ANSWERED_WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 200;

/**
 * Resolves to the bot's answer. `unheard`: what applies if the bot is not running, as a clause.
 * @throws UsageError (code 1) if no bot runs or answers.
 */
export async function askBot<Request extends { readonly id: string }, Answer extends { readonly id: string }>(
  dir: string,
  box: AskBox<Request, Answer>,
  request: Request,
  clock: Clock,
  unheard: string,
): Promise<Answer> {
  requireStateFolder(dir);
  const other = box.waiting();
  // An older request that no bot accepted was left by a killed command.
  if (other !== null && clock.now() - other.at < HEARD_WITHIN_MS)
    throw new UsageError(`${dir}: a request by ${other.by} is still pending; retry in a second`, 1);
  box.put(request);
  const began = clock.elapsed();
  const passed = () => clock.elapsed() - began;
  const watch = new Watch(
    () => readHeartbeat(dir, 'bot'),
    () => clock.elapsed(),
  );
  const failIfDead = () => {
    const dead = deathIn(dir, watch);
    // The bot may have answered just before it ended.
    if (dead === null || box.answered()?.id === request.id) return;
    if (box.waiting()?.id === request.id) box.take();
    throw new AbsentBot(`${dir}: ${dead}; ${unheard}`, 1);
  };
  while (box.waiting()?.id === request.id) {
    if (passed() > HEARD_WITHIN_MS) {
      box.take();
      throw new AbsentBot(
        `${dir}: no bot accepted the request within ${HEARD_WITHIN_MS / 1000} s, so the request was withdrawn; check that the bot is running with this state directory. If it is not running: ${unheard}`,
        1,
      );
    }
    failIfDead();
    await sleep(clock, LOOK_EVERY_MS);
  }
  for (;;) {
    const answer = box.answered();
    if (answer?.id === request.id) return answer;
    if (passed() > ANSWERED_WITHIN_MS)
      throw new UnansweredRequest(
        `${dir}: the bot accepted the request but did not answer within ${ANSWERED_WITHIN_MS / 1000} s; see the log of the bot`,
        1,
      );
    failIfDead();
    await sleep(clock, LOOK_EVERY_MS);
  }
}

/** Time without a heartbeat after which the bot counts as down, in ms; longer than a change of runs. */
const DEAD_AFTER_MS = 90_000;

/** Returns the reason why no bot can answer; `null` if a bot may answer, or if there has never been a heartbeat. */
function deathIn(dir: string, watch: Watch): string | null {
  const record = readHeartbeat(dir, 'bot');
  const stillMs = watch.stillForMs() ?? 0;
  if (record === null) return null;
  if (record.state === 'stopped') return 'the bot has stopped';
  if (isThere(record) === false) return 'the bot is down: its process does not exist';
  return stillMs > DEAD_AFTER_MS ? `no heartbeat from the bot for ${Math.round(stillMs / 1000)} s` : null;
}
