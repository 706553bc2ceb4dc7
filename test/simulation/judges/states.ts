/** States of the bot that a campaign has visited together: in which seeds, and with which classes of faults. */
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { FAULTS, type Fault, type Weights } from '../world/faults.ts';

/** Values of each part of the state of a bot. */
export const PARTS = {
  order: ['none', 'intent', 'sending', 'open', 'partially filled', 'canceling', 'unknown', 'closed-unsettled'],
  regime: ['normal', 'wide', 'reduce only', 'paused', 'halted'],
  latch: ['open', 'held', 'halted'],
  sentinel: ['none', 'runs', 'frozen', 'gone'],
  book: ['polled', 'from the stream', 'polled beside the stream'],
  hedge: ['off', 'none', 'requested', 'quoted', 'accepted', 'executing', 'unknown', 'between', 'ended'],
} as const;

type Part = keyof typeof PARTS;
/** Values of one moment. Several orders may be in several states. */
export type States = { readonly [P in Part]: readonly (typeof PARTS)[P][number][] };

/** A pair counts as rare if it is among this share of the visited pairs, by number of seeds. */
const RARE_SHARE = 0.25;
/** Bounds of the probability of a class in a steered draw. */
const STEERED = [0.25, 0.85] as const;

const parts = Object.keys(PARTS) as readonly Part[];

/** Returns the names of all pairs of values of two different parts. */
function pairsOf(states: States): string[] {
  const names: string[] = [];
  parts.forEach((a, i) => {
    for (const b of parts.slice(i + 1))
      for (const x of states[a]) for (const y of states[b]) names.push(`${a} ${x}, ${b} ${y}`);
  });
  return names;
}

export const ALL_PAIRS: readonly string[] = pairsOf(PARTS);

/** Pairs of states that one run has visited. */
export class VisitedPairs {
  readonly #pairs = new Set<string>();
  /** Values of earlier moments, so that a repeated moment costs little. */
  readonly #moments = new Set<string>();

  add(states: States): void {
    const moment = JSON.stringify(states);
    if (this.#moments.has(moment)) return;
    this.#moments.add(moment);
    for (const name of pairsOf(states)) this.#pairs.add(name);
  }

  get names(): readonly string[] {
    return [...this.#pairs].sort();
  }
}

const counts = z.record(z.string(), z.int().min(0));
/** Counts of seeds: in all, by class, by pair, and by pair and class. */
const tableSchema = z.strictObject({
  seeds: z.int().min(0),
  classes: counts,
  pairs: z.record(z.string(), z.strictObject({ seeds: z.int().min(1), classes: counts })),
});
export type PairTable = z.infer<typeof tableSchema>;

export const emptyTable = (): PairTable => ({ seeds: 0, classes: {}, pairs: {} });

/** Adds the visits of one run to a table. */
export function addRun(
  table: PairTable,
  run: { readonly pairs: readonly string[]; readonly classes: readonly Fault[] },
): void {
  const classes = Object.fromEntries(run.classes.map(name => [name, 1]));
  const pairs = Object.fromEntries(run.pairs.map(pair => [pair, { seeds: 1, classes }]));
  mergeTable(table, { seeds: 1, classes, pairs });
}

/** Adds the counts of one table to another. */
export function mergeTable(into: PairTable, other: PairTable): void {
  const add = (to: Record<string, number>, from: Readonly<Record<string, number>>) => {
    for (const [name, n] of Object.entries(from)) to[name] = (to[name] ?? 0) + n;
  };
  into.seeds += other.seeds;
  add(into.classes, other.classes);
  for (const [pair, { seeds, classes }] of Object.entries(other.pairs)) {
    const row = (into.pairs[pair] ??= { seeds: 0, classes: {} });
    row.seeds += seeds;
    add(row.classes, classes);
  }
}

export const unvisited = ({ pairs }: PairTable): readonly string[] =>
  ALL_PAIRS.filter(name => !Object.hasOwn(pairs, name));

/**
 * Returns the probability of each class for the next draw: higher if the class was on more often than usual where rare
 * pairs were visited. A pair without a visit cannot tell what it takes; its neighbors are the rare pairs.
 */
export function steering({ seeds, classes, pairs }: PairTable): Weights {
  const rows = Object.values(pairs).sort((a, b) => a.seeds - b.seeds);
  const rare = rows.slice(0, Math.ceil(rows.length * RARE_SHARE));
  const visits = rare.reduce((sum, row) => sum + row.seeds, 0);
  const weights = new Map<Fault, number>();
  for (const fault of FAULTS) {
    const usual = (classes[fault] ?? 0) / seeds;
    const beside = rare.reduce((sum, row) => sum + (row.classes[fault] ?? 0), 0) / visits;
    if (usual > 0 && visits > 0) weights.set(fault, Math.min(STEERED[1], Math.max(STEERED[0], (0.5 * beside) / usual)));
  }
  return weights;
}

/** @throws Error if the file is no table. */
export function readTable(file: string): PairTable {
  const read = tableSchema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!read.success) throw new Error(`${file}: expected a table of pairs, found ${z.prettifyError(read.error)}`);
  return read.data;
}

export const writeTable = (file: string, table: PairTable): void => writeFileSync(file, `${JSON.stringify(table)}\n`);
