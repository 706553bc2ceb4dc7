/** Writes docs/development/architecture.md: a picture of the rooms, and one of each room's folders, from the real imports. */
import { foldersOf, roomOfPath } from '../../folders.ts';
import { sourcesIn } from '../../imports.ts';

type Way = { readonly from: string; readonly to: string };

/** The page as Markdown, before formatting. */
export function architecturePage(): string {
  const files = ['src', 'strategies', 'backtest'].flatMap(sourcesIn);
  const rooms = foldersOf(files);
  return `# Rooms and folders

A generated page, from the imports of the sources, types counted; [the map](../../src/README.md) says what each room and each folder is
for. An arrow goes from who imports to what is imported; who reaches something over others may import it too, and that arrow is left
out. No two files and no two folders of a room import each other in a circle, over however many others: \`test/architecture.test.ts\`. In a
room's picture its own name stands for the files beside its folders.

${MEASURED}

## The rooms

${picture([], betweenRooms(files), name => name.replace(/^src\//, ''))}

${rooms.map(room => `## ${short(room.name, '')}\n\n${picture(room.folders, shortest(room.arrows), of => short(of, room.name))}`).join('\n\n')}
`;
}

/** Counted by hand at three commits: a page that is written anew should not change with every import. */
const MEASURED = `Counted at three commits: files, and imports of one file by another; the rooms' doors, which show all of their folders, belong to none.

| | files | folders | imports | between rooms | between folders of a room | pairs of folders that import each other | folders in circles | files in circles |
|---|---|---|---|---|---|---|---|---|
| before there were folders (ced1e5e) | 467 | 26 | 1,872 | 480 | 154 | 2 | 4 | 20 |
| folders and names moved (74bf001) | 475 | 69 | 1,908 | 493 | 715 | 20 | 25 | 0 |
| seams cut (faef9f0) | 501 | 74 | 2,039 | 562 | 731 | 0 | 0 | 0 |`;

/** Of `src/live/loop` in `src/live`: `loop`; of the room's own files its name. */
const short = (folder: string, room: string): string =>
  folder.startsWith(`${room}/`) && room !== '' ? folder.slice(room.length + 1) : folder.replace(/^src\//, '');

function betweenRooms(files: ReturnType<typeof sourcesIn>): readonly Way[] {
  const ways = new Map<string, Way>();
  for (const { path, arrows } of files)
    for (const { to } of arrows) {
      const [one, other] = [roomOf(path), roomOf(to)];
      if (one !== null && other !== null && one !== other) ways.set(`${one} ${other}`, { from: one, to: other });
    }
  return shortest([...ways.values()]);
}

/** `src/config.ts` is the door of its room; `src/main.ts` is part of the command line. */
const roomOf = (path: string): string | null =>
  path === 'src/config.ts' ? 'src/config' : path === 'src/main.ts' ? 'src/cli' : roomOfPath(path);

/** Without those that a chain of others stands for. */
function shortest(ways: readonly Way[]): readonly Way[] {
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    ways.some(way => {
      if (way.from !== from || seen.has(way.to)) return false;
      return way.to === to || reaches(way.to, to, seen.add(way.to));
    });
  return ways
    .filter(
      ({ from, to }) =>
        !ways.some(way => way.from === from && way.to !== to && !reaches(way.to, from) && reaches(way.to, to)),
    )
    .map(({ from, to }) => ({ from, to }))
    .sort((a, b) => (`${a.from} ${a.to}` < `${b.from} ${b.to}` ? -1 : 1));
}

function picture(folders: readonly string[], ways: readonly Way[], named: (folder: string) => string): string {
  const lines = ways.map(({ from, to }) => `  ${node(named(from))} --> ${node(named(to))}`);
  const alone = folders.filter(folder => !ways.some(({ from, to }) => from === folder || to === folder));
  return ['```mermaid', 'graph LR', ...lines, ...alone.map(folder => `  ${node(named(folder))}`), '```'].join('\n');
}

/** As mermaid takes it. */
const node = (name: string): string => (/^\w+$/.test(name) ? name : `${name.replace(/\W/g, '_')}["${name}"]`);
