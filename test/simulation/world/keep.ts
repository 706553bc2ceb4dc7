/** Parts of what a seed injects: whole classes of faults, or single strikes of them by their number. */
import { FAULTS, type Fault } from './faults.ts';

/** Kept strikes per class; `null`: all of the class. Classes that are absent are off. */
export type Keep = ReadonlyMap<Fault, readonly number[] | null>;

/** One class, or one strike of it where `index` is a number. */
export type Part = { readonly fault: Fault; readonly index: number | null };

export const classesOf = (keep: Keep): readonly Fault[] => [...keep.keys()];

export function isKept(keep: Keep | undefined, fault: Fault, index: number): boolean {
  if (keep === undefined) return true;
  const kept = keep.get(fault);
  return kept === null || kept?.includes(index) === true;
}

export function keepOf(parts: readonly Part[]): Keep {
  const keep = new Map<Fault, number[] | null>();
  for (const { fault, index } of parts) {
    const kept = keep.get(fault);
    keep.set(fault, index === null || kept === null ? null : [...(kept ?? []), index]);
  }
  return keep;
}

export const partsOf = (keep: Keep): readonly Part[] =>
  [...keep].flatMap(([fault, kept]): readonly Part[] =>
    kept === null ? [{ fault, index: null }] : kept.map(index => ({ fault, index })),
  );

/** As `--keep` takes them: the number of the class in the list, and that of the strike behind a colon: `1:17,34:0,2`. */
export const keepText = (keep: Keep): string =>
  partsOf(keep)
    .map(({ fault, index }) => `${FAULTS.indexOf(fault)}${index === null ? '' : `:${index}`}`)
    .join(',');

/** @throws Error if the text names no class. */
export function parseKeep(text: string): Keep {
  const parts = text === '' ? [] : text.split(',');
  return keepOf(
    parts.map(part => {
      const found = /^(\d+)(?::(\d+))?$/.exec(part);
      const fault = FAULTS[Number(found?.[1])];
      if (!found || !fault) throw new Error(`--keep: expected CLASS or CLASS:STRIKE, found ${part}`);
      return { fault, index: found[2] === undefined ? null : Number(found[2]) };
    }),
  );
}

/** In words, for people. */
export const keepWords = (keep: Keep): string =>
  keep.size === 0
    ? 'no fault'
    : partsOf(keep)
        .map(({ fault, index }) => (index === null ? fault : `${fault} no. ${index}`))
        .join(', ');
