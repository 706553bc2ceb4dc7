/** Participants of a queue: workers and studies that announce themselves every few seconds, with their version. */
import type { Queue } from 'bullmq';
import { z } from 'zod';
import { shortCode } from './programCode.ts';

const shortText = z.string().min(1).max(200);

const presenceSchema = z.strictObject({
  kind: z.enum(['worker', 'study']),
  id: z.string().regex(/^[\w.-]{1,80}$/),
  version: shortText,
  code: z.string().regex(/^[0-9a-f]{64}$/),
  /** Run of a study. */
  study: z.string().max(64).default(''),
  /** Process and machine of a worker, or operator of a study. */
  who: shortText,
  /** Epoch ms, by its own clock. */
  at: z.number(),
});

export type Presence = z.infer<typeof presenceSchema>;

export type Attendants = Readonly<Record<'here' | 'known' | 'forgotten', readonly Presence[]>>;

export const HELLO_QUEUE = 'puntas-hello';

export const ANNOUNCE_EVERY_MS = 5_000;
/** Age after which a participant counts as gone. Clocks of machines may differ by half of this time. */
const GONE_AFTER_MS = 30_000;
const EXPIRED_AFTER_MS = 86_400_000;
const ENTRIES_MAX = 1_000;

/** Formats version and code as text. */
export const buildText = ({ version, code }: Pick<Presence, 'version' | 'code'>): string =>
  `puntas ${version}, code ${shortCode(code)}`;

export class PresenceBoard {
  readonly #queue: Queue;

  /** `queue` must be `HELLO_QUEUE`. */
  constructor(queue: Queue) {
    this.#queue = queue;
  }

  async say(presence: Presence): Promise<void> {
    // No worker takes these jobs; they are only read.
    const job = await this.#queue.add(presence.kind, presence, { jobId: idOf(presence) });
    await job.updateData(presence);
  }

  async leave(presence: Presence): Promise<void> {
    await this.#queue.remove(idOf(presence));
  }

  /** Groups participants by their last announcement: recent, within a day, and older. Ignores invalid entries. */
  async seen(now: number): Promise<Attendants> {
    const jobs = await this.#queue.getJobs(['waiting'], 0, ENTRIES_MAX - 1);
    const all = jobs.flatMap(job => {
      const parsed = presenceSchema.safeParse(job?.data);
      return parsed.success ? [parsed.data] : [];
    });
    return {
      here: all.filter(({ at }) => now - at < GONE_AFTER_MS),
      known: all.filter(({ at }) => now - at <= EXPIRED_AFTER_MS),
      forgotten: all.filter(({ at }) => now - at > EXPIRED_AFTER_MS),
    };
  }
}

const idOf = ({ kind, id }: Presence): string => `${kind}-${id}`;
