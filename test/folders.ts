/** The folders of each room and the arrows between them, types counted. A room's door (its index) is no folder: it shows all of them. */
import { dirname } from 'node:path';
import type { SourceFile } from './imports.ts';

export type Room = {
  readonly name: string;
  /** By their path from the root, the innermost first: each is imported by later ones alone, where there is no circle. */
  readonly folders: readonly string[];
  readonly arrows: readonly { readonly from: string; readonly to: string; readonly imports: number }[];
};

/** `src/core/model/units.ts` is in room `src/core`, research's app and commands in rooms of their own; a file beside the rooms is in none. */
export const roomOfPath = (path: string): string | null =>
  /^(src\/\w+|strategies|backtest\/(?:app|commands)|backtest)\//.exec(path)?.[1] ?? null;

/** Every room with more than one folder. */
export function foldersOf(files: readonly SourceFile[]): readonly Room[] {
  const known = new Set(files.map(({ path }) => path));
  const isDoor = (path: string) => path === `${roomOfPath(path)}/index.ts`;
  const rooms = new Map<string, Map<string, Map<string, number>>>();
  for (const { path, arrows } of files) {
    const room = roomOfPath(path);
    if (room === null || isDoor(path)) continue;
    const folders = rooms.get(room) ?? new Map<string, Map<string, number>>();
    rooms.set(room, folders);
    const from = folders.get(dirname(path)) ?? new Map<string, number>();
    folders.set(dirname(path), from);
    for (const to of new Set(arrows.map(arrow => arrow.to))) {
      if (!known.has(to) || roomOfPath(to) !== room || isDoor(to) || dirname(to) === dirname(path)) continue;
      from.set(dirname(to), (from.get(dirname(to)) ?? 0) + 1);
    }
  }
  return [...rooms]
    .filter(([, folders]) => folders.size > 1)
    .map(([name, folders]) => ({
      name,
      folders: sorted(folders),
      arrows: [...folders]
        .flatMap(([from, tos]) => [...tos].map(([to, imports]) => ({ from, to, imports })))
        .sort(byName),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Folders of a room that reach themselves, as `from > to` of the arrows between them. */
export function foldersInCircles(rooms: readonly Room[]): readonly string[] {
  return rooms.flatMap(({ arrows }) => {
    const reach = (from: string, seen = new Set<string>()): ReadonlySet<string> => {
      for (const arrow of arrows) if (arrow.from === from && !seen.has(arrow.to)) reach(arrow.to, seen.add(arrow.to));
      return seen;
    };
    return arrows.filter(({ from, to }) => reach(to).has(from)).map(({ from, to }) => `${from} > ${to}`);
  });
}

/** What nobody else is needed for comes first; then by name. */
function sorted(folders: ReadonlyMap<string, ReadonlyMap<string, number>>): readonly string[] {
  const left = new Set([...folders.keys()].sort());
  const order: string[] = [];
  while (left.size > 0) {
    const free = [...left].filter(folder => [...(folders.get(folder)?.keys() ?? [])].every(to => !left.has(to)));
    const next = free.length > 0 ? free : [...left];
    for (const folder of next) {
      left.delete(folder);
      order.push(folder);
    }
  }
  return order;
}

const byName = (a: Room['arrows'][number], b: Room['arrows'][number]): number =>
  `${a.from} ${a.to}` < `${b.from} ${b.to}` ? -1 : 1;
