/** What a campaign tells: the block for people, and the last line for machines. */
import { PERSON_SOMETIMES } from './judges/personJudge.ts';
import { SOMETIMES } from './judges/sometimes.ts';
import { addRun, ALL_PAIRS, emptyTable, PARTS, unvisited } from './judges/states.ts';
import type { BookActionCounts } from './processes/bookOperators.ts';
import type { ActionCounts } from './processes/persons.ts';
import { ELSEWHERE_SOMETIMES, type ElsewhereCounts } from './judges/elsewhereJudge.ts';
import type { ReloadCounts } from './processes/reloads.ts';
import { grouped, type Explained } from './shrink/groups.ts';
import type { Run } from './simulate.ts';

export type PlantedFind = { readonly name: string; readonly seeds: number | null; readonly law: string | null };

export class Tally {
  readonly runs: Run[] = [];
  readonly faults = new Map<string, number>();
  readonly sometimes = new Map<string, number>(SOMETIMES.map(what => [what, 0]));
  readonly failing: Run[] = [];
  readonly pairs = emptyTable();
  mismatches = 0;
  compared = 0;
  cpuMs = 0;

  add(run: Run, ms: number): void {
    this.cpuMs += ms;
    // The trace is not kept: a campaign may be long.
    this.runs.push(run);
    for (const [fault, count] of Object.entries(run.faults))
      this.faults.set(fault, (this.faults.get(fault) ?? 0) + count);
    for (const [what, count] of Object.entries(run.sometimes))
      this.sometimes.set(what, (this.sometimes.get(what) ?? 0) + count);
    addRun(this.pairs, run);
    if (run.violations.length > 0) this.failing.push(run);
  }

  sum(of: (run: Run) => number): number {
    return this.runs.reduce((sum, run) => sum + of(run), 0);
  }

  get unseen(): readonly string[] {
    return [...this.sometimes].filter(([, count]) => count === 0).map(([what]) => what);
  }

  /** Share of the time with both quotes live, of the runs that `which` picks. */
  uptime(which: (run: Run) => boolean): number {
    const picked = this.runs.filter(which);
    const all = picked.reduce((sum, run) => sum + run.uptime.all, 0);
    return all === 0 ? 0 : picked.reduce((sum, run) => sum + run.uptime.both, 0) / all;
  }

  /** `awayMs`: of calm seeds, the half and the longest. */
  get reloads(): Omit<ReloadCounts, 'awayMs'> & { readonly awayMs: readonly [median: number, most: number] } {
    const sum = (of: (counts: ReloadCounts) => number) =>
      this.sum(({ reloads }) => (reloads === null ? 0 : of(reloads)));
    const away = this.runs.flatMap(({ calm, reloads }) => (calm ? (reloads?.awayMs ?? []) : [])).sort((a, b) => a - b);
    return {
      asked: sum(({ asked }) => asked),
      taken: sum(({ taken }) => taken),
      refused: sum(({ refused }) => refused),
      putOff: sum(({ putOff }) => putOff),
      fellBack: sum(({ fellBack }) => fellBack),
      awayMs: [away[Math.floor(away.length / 2)] ?? 0, away.at(-1) ?? 0],
    };
  }

  /** `unseen`: what has to happen once where persons act. */
  get actions() {
    const sum = (of: (counts: ActionCounts) => number) =>
      this.sum(({ actions }) => (actions === null ? 0 : of(actions)));
    return {
      asked: sum(({ asked }) => asked),
      refused: sum(({ refused }) => refused),
      wrong: sum(({ wrong }) => wrong),
      unseen: PERSON_SOMETIMES.filter(what => sum(({ sometimes }) => sometimes[what] ?? 0) === 0),
    };
  }

  /** Hedges on the second exchange, of all runs; `unseen`: what must happen once there. */
  get elsewhere(): Omit<ElsewhereCounts, 'sometimes'> & { readonly unseen: readonly string[] } {
    const sum = (of: (counts: ElsewhereCounts) => number) =>
      this.sum(({ elsewhere }) => (elsewhere === null ? 0 : of(elsewhere)));
    return {
      sent: sum(({ sent }) => sent),
      filled: sum(({ filled }) => filled),
      partial: sum(({ partial }) => partial),
      failed: sum(({ failed }) => failed),
      worst: Math.max(0, ...this.runs.map(({ elsewhere }) => elsewhere?.worst ?? 0)),
      unseen: ELSEWHERE_SOMETIMES.filter(what => sum(({ sometimes }) => sometimes[what] ?? 0) === 0),
    };
  }

  /** Stops and resumes by the operators of several books, of all runs. */
  get books(): BookActionCounts {
    const sum = (of: (counts: BookActionCounts) => number) => this.sum(({ books }) => (books === null ? 0 : of(books)));
    return {
      asked: sum(({ asked }) => asked),
      ofOneBook: sum(({ ofOneBook }) => ofOneBook),
      refused: sum(({ refused }) => refused),
    };
  }

  get speedup(): number {
    return this.cpuMs === 0 ? 0 : this.sum(run => run.simMs) / this.cpuMs;
  }
}

export function block(
  tally: Tally,
  planted: readonly PlantedFind[],
  wallMs: number,
  commit: string,
  failures: readonly Explained[] = [],
): string {
  const lines = [
    ['commit', `${commit}, Node ${process.version}`],
    ['seeds', `${tally.runs.length}, of which ${tally.runs.filter(run => run.calm).length} calm`],
    ['simulated', `${(tally.sum(run => run.simMs) / 3_600_000).toFixed(1)} hours`],
    ['requests', count(tally.sum(run => run.requests))],
    ['faults', count([...tally.faults.values()].reduce((sum, n) => sum + n, 0))],
    ...[...tally.faults].sort(([, a], [, b]) => b - a).map(([fault, n]) => [`  ${fault}`, count(n)] as const),
    ['unknown placements', count(tally.sum(run => run.unknowns))],
    ['crashes', count(tally.sum(run => run.crashes))],
    ['fills applied', count(tally.sum(run => run.fills))],
    ['lock-outs by the exchange itself', count(tally.sum(run => run.lockOuts))],
    ...(tally.reloads.asked === 0 ? [] : [['changes of the configuration', reloadsText(tally)] as const]),
    ...(tally.actions.asked === 0 ? [] : [['actions of persons', actionsText(tally)] as const]),
    ...(tally.elsewhere.sent === 0 ? [] : [['hedges elsewhere', JSON.stringify(tally.elsewhere)] as const]),
    ...(tally.books.asked === 0 ? [] : [['stops of books', JSON.stringify(tally.books)] as const]),
    ['violations', count(tally.failing.reduce((sum, run) => sum + run.violations.length, 0))],
    ...grouped(failures).map(({ law, cause, seeds }) => [`  ${law}: ${cause}`, `seeds ${seeds.join(', ')}`] as const),
    ['same seed, same trace', `${tally.mismatches} mismatches in ${tally.compared} comparisons`],
    ['sometimes', `${SOMETIMES.length - tally.unseen.length} of ${SOMETIMES.length} seen`],
    ['pairs of states', `${ALL_PAIRS.length - unvisited(tally.pairs).length} of ${ALL_PAIRS.length} visited`],
    ...pairLines(tally),
    ['both quotes live, calm', percent(tally.uptime(run => run.calm))],
    ['both quotes live, with faults', percent(tally.uptime(run => !run.calm))],
    ['speed', `${tally.speedup.toFixed(0)} times real time per core, ${(wallMs / 1000).toFixed(0)} s in all`],
    ...planted.map(
      ({ name, seeds, law }) =>
        [
          `planted: ${name}`,
          seeds === null ? 'NOT FOUND' : `${law} after ${seeds} seed${seeds === 1 ? '' : 's'}`,
        ] as const,
    ),
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  const text = lines.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n');
  const unseen = tally.unseen.map(what => `never seen: ${what}`).join('\n');
  return unseen === '' ? text : `${text}\n${unseen}`;
}

export const lastLine = (tally: Tally, planted: readonly PlantedFind[], failures: readonly Explained[] = []): string =>
  JSON.stringify({
    seeds: tally.runs.length,
    simHours: round(tally.sum(run => run.simMs) / 3_600_000, 1),
    faults: [...tally.faults.values()].reduce((sum, n) => sum + n, 0),
    unknowns: tally.sum(run => run.unknowns),
    crashes: tally.sum(run => run.crashes),
    ...(tally.reloads.asked === 0 ? {} : { reloads: tally.reloads }),
    ...(tally.actions.asked === 0 ? {} : { actions: tally.actions }),
    ...(tally.elsewhere.sent === 0 ? {} : { elsewhere: tally.elsewhere }),
    ...(tally.books.asked === 0 ? {} : { books: { ...tally.books, fills: tally.sum(run => run.fills) } }),
    violations: tally.failing.reduce((sum, run) => sum + run.violations.length, 0),
    ...(failures.length === 0 ? {} : { failures: grouped(failures) }),
    mismatches: tally.mismatches,
    compared: tally.compared,
    speedup: round(tally.speedup, 0),
    plantedFound: planted.filter(({ seeds }) => seeds !== null).length,
    plantedTotal: planted.length,
    sometimesSeen: SOMETIMES.length - tally.unseen.length,
    sometimesTotal: SOMETIMES.length,
    pairsVisited: ALL_PAIRS.length - unvisited(tally.pairs).length,
    pairsTotal: ALL_PAIRS.length,
    uptime: {
      calm: round(
        tally.uptime(run => run.calm),
        4,
      ),
      faulty: round(
        tally.uptime(run => !run.calm),
        4,
      ),
    },
  });

/** Returns one line for each two parts of the state: how many pairs of their values were visited. */
function pairLines({ pairs }: Tally): (readonly [string, string])[] {
  const parts = Object.keys(PARTS) as (keyof typeof PARTS)[];
  const open = unvisited(pairs);
  return parts.flatMap((a, i) =>
    parts.slice(i + 1).map(b => {
      const all = PARTS[a].length * PARTS[b].length;
      const left = open.filter(name => name.startsWith(`${a} `) && name.includes(`, ${b} `)).length;
      return [`  ${a} and ${b}`, `${all - left} of ${all}`] as const;
    }),
  );
}

const reloadsText = ({ reloads: { asked, taken, refused, putOff, fellBack, awayMs } }: Tally): string =>
  `${asked}: ${taken} taken, ${refused} refused, ${putOff} put off, ${fellBack} fell back; quotes away ${awayMs[0]} ms where nothing else is wrong, ${awayMs[1]} at most`;
const actionsText = ({ actions: { asked, refused, wrong, unseen } }: Tally): string =>
  `${asked}, ${refused} of them refused, and ${wrong} asked wrongly; ${unseen.length === 0 ? 'all that must happen was seen' : `never seen: ${unseen.join('; ')}`}`;
const count = (n: number): string => n.toLocaleString('en-US');
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;
const round = (x: number, digits: number): number => Number(x.toFixed(digits));
