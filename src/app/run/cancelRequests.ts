/** `puntas cancel` in the bot: cancels every order, verifies that all orders are gone, and quotes again. */
import { counted, repeatEvery, type Clock } from '../../core/index.ts';
import type { RecordingRotation } from '../../live/loop/recordingRotation.ts';
import type { Log } from '../../live/log.ts';
import { isAllGone, unverified } from '../../live/loop/loopOptions.ts';
import type { MailMessage } from '../../live/mailbox/kinds.ts';
import type { Requests } from '../../live/mailbox/mailbox.ts';
import { sentenceOf } from '../../messages/exits.ts';
import { stopText } from '../../messages/stopText.ts';

type CancelRequest = MailMessage<'cancel'>;
type CancelAnswer = MailMessage<'cancelAnswer'>;

export type CancelHost = {
  readonly clock: Clock;
  readonly log: Log;
  readonly box: Requests<'cancel', 'cancelAnswer'>;
  readonly instance: string;
  readonly rotation: Pick<RecordingRotation, 'restartRun' | 'run'>;
};

const LOOK_EVERY_MS = 500;

/**
 * Polls for requests until stopped; ignores requests to an earlier process. Handles one request at a time. A request
 * during another request is answered immediately, because the current request already cancels every order. A queued
 * request would interrupt the quotes again much later.
 */
export function startCanceling(host: CancelHost): { stop(): Promise<void> } {
  const { box, clock, log } = host;
  let underWay: Promise<void> = Promise.resolve();
  let first: CancelRequest | null = null;
  const take = (): CancelRequest | null => {
    try {
      const asked = box.waiting(sentence => log.warn({}, sentence));
      if (asked !== null) box.take();
      return asked;
    } catch (error) {
      log.warn({ error: String(error) }, 'cannot read the cancel request');
      return null;
    }
  };
  take();
  const look = (): void => {
    const asked = take();
    if (asked !== null && first !== null)
      tell(host, asked, keptFor(`the cancel requested by ${first.by} is in progress and cancels every order`));
    else if (asked !== null) {
      first = asked;
      underWay = executeCancel(host, asked).finally(() => (first = null));
    }
  };
  const timer = repeatEvery(clock, LOOK_EVERY_MS, look);
  return {
    stop: () => {
      timer.stop();
      return underWay;
    },
  };
}

async function executeCancel(host: CancelHost, asked: CancelRequest): Promise<void> {
  const { by, reason } = asked;
  host.log.warn({ by, reason }, `cancel, requested by ${by}: ${reason}`);
  tell(host, asked, await answerOf(host).catch((error: unknown) => keptFor(sentenceOf(error))));
}

function tell({ box, log }: CancelHost, { id, by, reason }: CancelRequest, answer: Omit<CancelAnswer, 'id'>): void {
  for (const line of answer.lines) log.info({ by, reason }, `cancel: ${line}`);
  try {
    box.answer({ id, ...answer });
  } catch (error) {
    log.warn({ error: String(error) }, 'cannot write the result of a cancel');
  }
}

async function answerOf({ rotation, instance }: CancelHost): Promise<Omit<CancelAnswer, 'id'>> {
  const { books, liveOrders } = rotation.run.engine;
  const live = liveOrders.length;
  const book = books.map(({ symbol }) => symbol).join(', ');
  const end = await rotation.restartRun();
  if (end.kind === 'kept') return keptFor(end.why);
  const { engine } = rotation.run;
  const [halted, paused] = [stopText(engine, 'haltedBecause'), stopText(engine, 'pausedBecause')];
  const silent = halted !== null ? ` (halted: ${halted})` : paused !== null ? ` (paused: ${paused})` : '';
  const anew = `run ${end.run} resumed after ${(end.ms / 1000).toFixed(1)} s${silent}`;
  const were = `${counted(live, 'order was', 'orders were')} live`;
  if (isAllGone(end))
    return { end: 'gone', lines: [`${were}; verified: no open orders of ${instance} left on ${book}`, anew] };
  return {
    end: 'left',
    lines: [
      were,
      `orders may still be open: ${unverified(end).join(', ')}`,
      `${anew}, and continues to check for orders of the previous run`,
    ],
  };
}

const keptFor = (why: string) => ({ end: 'kept', lines: [`nothing was canceled: ${why}`] }) as const;
