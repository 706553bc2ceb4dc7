/** Who is at a queue: workers and studies that say so every few seconds, with their version, whatever version that is. */
import type { Queue } from 'bullmq';
import { z } from 'zod';
import { shortCode } from './programCode.ts';

const shortText = z.string().min(1).max(200);

const presenceSchema = z.strictObject({
  kind: z.enum(['worker', 'study']),
  id: z.string().regex(/^[\w.-]{1,80}$/),
  version: shortText,
  code: z.string().regex(/^[0-9a-f]{64}$/),
  /** Of a study: its run. */
  study: z.string().max(64).default(''),
  /** Process and machine of a worker; who runs a study. */
  who: shortText,
  /** Ms since 1970, by its own clock. */
  at: z.number(),
});

export type Presence = z.infer<typeof presenceSchema>;

export type Attendants = Readonly<Record<'here' | 'known' | 'forgotten', readonly Presence[]>>;

export const HELLO_QUEUE = 'puntas-hello';

export const SAID_EVERY_MS = 5_000;
/** Clocks of machines may differ by half of it. */
const GONE_AFTER_MS = 30_000;
const FORGOTTEN_AFTER_MS = 86_400_000;
const MOST = 1_000;

/** As a line has it. */
export const buildText = ({ version, code }: Pick<Presence, 'version' | 'code'>): string =>
  `puntas ${version}, code ${shortCode(code)}`;

export class PresenceBoard {
  readonly #queue: Queue;

  /** Of `HELLO_QUEUE`. */
  constructor(queue: Queue) {
    this.#queue = queue;
  }

  async say(presence: Presence): Promise<void> {
    // Nobody takes these jobs: they are only looked at.
    const job = await this.#queue.add(presence.kind, presence, { jobId: idOf(presence) });
    await job.updateData(presence);
  }

  async leave(presence: Presence): Promise<void> {
    await this.#queue.remove(idOf(presence));
  }

  /** Who said so lately, who did within a day, and who did not. What is no presence is passed over. */
  async seen(now: number): Promise<Attendants> {
    const jobs = await this.#queue.getJobs(['waiting'], 0, MOST - 1);
    const all = jobs.flatMap(job => {
      const parsed = presenceSchema.safeParse(job?.data);
      return parsed.success ? [parsed.data] : [];
    });
    return {
      here: all.filter(({ at }) => now - at < GONE_AFTER_MS),
      known: all.filter(({ at }) => now - at <= FORGOTTEN_AFTER_MS),
      forgotten: all.filter(({ at }) => now - at > FORGOTTEN_AFTER_MS),
    };
  }
}

const idOf = ({ kind, id }: Presence): string => `${kind}-${id}`;
