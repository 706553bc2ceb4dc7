/** Failures of a campaign by the invariant that broke and what made it inevitable: many seeds may have one mistake. */
import type { Cause } from './cause.ts';

export type Explained = { readonly seed: number; readonly law: string; readonly cause: string };
export type Group = Omit<Explained, 'seed'> & { readonly seeds: readonly number[] };

const LINE_MAX = 80;

/** The same for two failures of one kind: without times, numbers and ids. */
export function causeName({ isAlways, strikes, line }: Pick<Cause, 'isAlways' | 'strikes' | 'line'>): string {
  if (isAlways) return 'nothing has to go wrong';
  if (strikes.length > 0) return [...new Set(strikes.map(({ fault }) => fault))].join(' and ');
  const text = line.replace(/[\d.]+ /, '');
  return text
    .replace(/[{[].*/s, '')
    .replace(/\d+/g, 'N')
    .slice(0, LINE_MAX)
    .trim();
}

/** Largest group first. */
export function grouped(all: readonly Explained[]): readonly Group[] {
  const groups = new Map<string, Explained[]>();
  for (const one of all) {
    const key = JSON.stringify([one.law, one.cause]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()]
    .map(of => ({ law: of[0]!.law, cause: of[0]!.cause, seeds: of.map(({ seed }) => seed) }))
    .sort((a, b) => b.seeds.length - a.seeds.length);
}
