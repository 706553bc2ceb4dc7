/**
 * Runs of a comparison on one recording. Each bot runs at every tier; additional runs use the tier that the bot's own
 * volume reaches, or start later. No replay runs twice.
 */
import {
  comparedModel,
  crossedText,
  isCrossed,
  mainOf,
  paceOf,
  remarksOf,
  type ComparedRun,
  type ModelName,
  type ReplayReport,
  type StaggeredStart,
} from '../../index.ts';
import type { FeeTier } from '../../../src/core/index.ts';
import { ownFees } from '../backtest/backtest.ts';
import { sourceFor, type ModelJob, type RowSource } from '../backtest/backtestModel.ts';
import type { ModelRunner } from '../backtest/backtestThreads.ts';
import type { DataFlaw } from '../../../src/tape/index.ts';
import type { Setup } from './compareSetups.ts';
import { untestedRoutes } from '../backtest/hedgeRoutes.ts';
import { notSimulated } from '../backtest/notSimulated.ts';

/** Bot to replay, at one fee tier. */
export type Planned = {
  readonly setup: Setup;
  readonly tier: string;
  readonly feeBps: number;
  /** Account of the run; `null` if the bot cannot run at this tier. */
  readonly account: Pick<ModelJob, 'fees' | 'balances' | 'elsewhere' | 'routes' | 'otherExchange'> | null;
  readonly notRun: string | null;
  readonly declined: string | null;
};

/**
 * Returns the plan without an account, so that the bot does not run, if quoting is advised against and `anyway` is
 * false.
 */
export function planUnlessDeclined(planned: Planned, declined: string | null, anyway: boolean): Planned {
  if (declined === null || planned.account === null) return planned;
  return anyway ? { ...planned, declined } : { ...planned, account: null, notRun: declined, declined };
}

/** Inputs that all runs on a recording share. */
export type TapeRuns = {
  readonly shared: Pick<ModelJob, 'instrument' | 'gaps' | 'seed' | 'latencies' | 'from' | 'to'>;
  readonly rows: RowSource;
  readonly models: readonly ModelName[];
  readonly runner: ModelRunner;
  /** Expected number of replays, for the progress. */
  readonly expected: number;
  readonly onProgress: (share: number) => void;
};

type Wanted = { readonly planned: Planned; readonly model: ModelName; readonly from: number };

/** Cache of replays: a bot at one fee, under one model, from one start is replayed once. */
export class Replays {
  readonly #tape: TapeRuns;
  readonly #main: ModelName;
  readonly #done = new Map<string, ReplayReport>();
  #rows: RowSource;

  /** Decodes stored rows once for all replays, if they fit into memory. */
  constructor(tape: TapeRuns) {
    const { models, rows, shared } = tape;
    this.#tape = tape;
    this.#main = models.includes('expected') ? 'expected' : models[0]!;
    this.#rows = sourceFor([shared, shared], rows);
  }

  /** Returns one report per model for each bot that can run, and an empty list for each bot that cannot. */
  async underModels(planned: readonly Planned[]): Promise<readonly (readonly ReplayReport[])[]> {
    const { models, shared } = this.#tape;
    const wanted = planned.map(one => models.map((model): Wanted => ({ planned: one, model, from: shared.from })));
    return this.#of(wanted);
  }

  /** Returns one report per start for each bot that can run, under the main model. */
  async fromStarts(
    planned: readonly Planned[],
    starts: readonly number[],
  ): Promise<readonly (readonly ReplayReport[])[]> {
    return this.#of(planned.map(one => starts.map((from): Wanted => ({ planned: one, model: this.#main, from }))));
  }

  /**
   * Finds for each bot the best tier that its own volume, scaled to 30 days, reaches. The search starts at the best
   * tier and continues with the tier of the last run's volume. `planAt` takes an index in `schedule`, which is
   * ascending by volume, and returns the plans of all bots in a constant order. A bot that cannot run at a tier stays
   * at that tier.
   */
  async atOwnTier(
    schedule: readonly FeeTier[],
    planAt: (tier: number) => readonly Planned[],
  ): Promise<readonly Planned[]> {
    const { from, to } = this.#tape.shared;
    const best = schedule.length - 1;
    const found = [...planAt(best)];
    let open = found.map((_, bot) => ({ bot, tier: best }));
    while (open.length > 0) {
      const planned = open.map(({ bot, tier }) => planAt(tier)[bot]!);
      const reports = await this.fromStarts(planned, [from]);
      const next: typeof open = [];
      for (const [i, { bot, tier }] of open.entries()) {
        found[bot] = planned[i]!;
        const [report] = reports[i]!;
        const reached =
          report === undefined ? tier : paceOf(Number(report.volume.minor), (to - from) / 1000, schedule).tier;
        if (reached < tier) next.push({ bot, tier: reached });
      }
      open = next;
    }
    return found;
  }

  async #of(wanted: readonly (readonly Wanted[])[]): Promise<readonly (readonly ReplayReport[])[]> {
    const { runner, shared, expected, onProgress } = this.#tape;
    const jobs = new Map<string, ModelJob>();
    for (const { planned, model, from } of wanted.flat()) {
      const { account, setup } = planned;
      const key = keyOf({ planned, model, from });
      if (account === null || setup.config === null || this.#done.has(key)) continue;
      jobs.set(key, { ...shared, ...account, model, config: setup.config, from, csv: null });
    }
    const before = this.#done.size;
    const reports =
      jobs.size === 0
        ? []
        : await runner.run([...jobs.values()], this.#rows, share =>
            onProgress(Math.min(1, (before + share * jobs.size) / expected)),
          );
    for (const [i, key] of [...jobs.keys()].entries()) this.#done.set(key, reports[i]!);
    return wanted.map(of => of.flatMap(one => this.#done.get(keyOf(one)) ?? []));
  }
}

const keyOf = ({ planned, model, from }: Wanted): string =>
  planned.account === null ? '' : `${planned.setup.name} ${JSON.stringify(planned.account.fees)} ${model} ${from}`;

const OWN_FEES = 'the configuration sets its own fees, which replace the fees of the tier';

/** Returns the result of one plan; `of.later` contains the results of its later starts. */
export function comparedRun(
  { setup, tier, feeBps, account, notRun, declined }: Planned,
  replayed: readonly ReplayReport[],
  of: {
    readonly schedule: readonly FeeTier[];
    readonly flaws: readonly DataFlaw[];
    readonly later: readonly StaggeredStart[];
    /** Whether the user gave the fees of another exchange, which replace those of each configuration. */
    readonly isGiven: boolean;
  },
): ComparedRun {
  const { name, strategy, text, config } = setup;
  const models = replayed.map(comparedModel);
  const main = mainOf(replayed);
  const crossed = main === null ? [] : crossedText(main);
  const untested = config === null ? [] : untestedRoutes(config, account?.routes ?? []).map(({ done }) => done);
  return {
    ...{ name, strategy, tier, feeBps, config: text, notRun, declined, models },
    positionMax: config === null ? null : Number(config.limits.positionMax),
    unscored: main !== null && isCrossed(main) ? (crossed[0] ?? null) : null,
    pace: main && paceOf(Number(main.volume.minor), main.seconds, of.schedule),
    staggered: of.later,
    againstFirst: null,
    remarks: [
      ...crossed,
      ...remarksOf(models, of.flaws),
      ...untested,
      ...(config === null ? [] : notSimulated(config, account?.otherExchange !== undefined)),
      ...(of.isGiven || tier === 'config' || config === null || ownFees(config) === null ? [] : [OWN_FEES]),
    ],
  };
}

/**
 * Returns the start times in epoch ms; the first is `from`. The `count` starts are spread evenly over an hour, or over
 * a quarter of the time span if that is shorter.
 */
export function startsOf(
  { from, to }: { readonly from: number; readonly to: number },
  count: number,
): readonly number[] {
  const over = Math.min(3_600_000, (to - from) / 4);
  return Array.from({ length: count }, (_, i) => from + Math.round((over * i) / Math.max(1, count - 1)));
}
