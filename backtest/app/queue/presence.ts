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
  /** Id of the study's run; empty for a worker. */
  study: z.string().max(64).default(''),
  /** Process and machine of a worker; for a study, the operator. */
  who: shortText,
  /** Time of the announcement in epoch ms, by the participant's clock. */
  at: z.number(),
});

export type Presence = z.infer<typeof presenceSchema>;

export type Attendants = Readonly<Record<'here' | 'known' | 'forgotten', readonly Presence[]>>;

export const HELLO_QUEUE = 'puntas-hello';

export const ANNOUNCE_EVERY_MS = 5_000;
/** Age in ms after which a participant counts as gone. The clocks of two machines may differ by half of this age. */
const GONE_AFTER_MS = 30_000;
const EXPIRED_AFTER_MS = 86_400_000;
const ENTRIES_MAX = 1_000;
/**
 * Age in ms at which an uncollected result is deleted. A waiting trial of that age is deleted if its study sends no
 * heartbeat.
 */
export const JOBS_KEPT_MS = EXPIRED_AFTER_MS;

/** Formats the version and the code hash as text. */
export const buildText = ({ version, code }: Pick<Presence, 'version' | 'code'>): string =>
  `puntas ${version}, code ${shortCode(code)}`;

export class PresenceBoard {
  readonly #queue: Queue;

  /** `queue` must be the queue named `HELLO_QUEUE`. */
  constructor(queue: Queue) {
    this.#queue = queue;
  }

  async say(presence: Presence): Promise<void> {
    // Announcements are jobs that no worker processes; participants only read them.
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

/** Returns the code hashes, other than `own`, whose participants have all been gone for more than a day. */
export const abandonedCodes = ({ known, forgotten }: Attendants, own: string): readonly string[] =>
  [...new Set(forgotten.map(({ code }) => code))].filter(
    code => code !== own && !known.some(other => other.code === code),
  );

/** Whether the study is present, judged by its last announcement. */
export const isStudyHere = (run: string, { here }: Attendants): boolean => here.some(({ study }) => study === run);

/** Whether a trial expired: it has waited for more than a day, and its study has not announced itself for a day. */
export const isExpired = async (waitedMs: number, run: string, seen: () => Promise<Attendants>): Promise<boolean> =>
  waitedMs > JOBS_KEPT_MS && !(await seen()).known.some(({ study }) => study === run);

const idOf = ({ kind, id }: Presence): string => `${kind}-${id}`;
