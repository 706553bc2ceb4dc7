/** Sessions of the recordings of ../shared/data that a mapping describes, as tapes that a comparison takes. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { importTape } from '../../src/app/tapes/import.ts';
import { progressBar } from '../../src/cli/terminal/progressBar.ts';

type Session = {
  readonly set: string;
  /** Beginnings of its files, and of each the lines that are of this session; the first line of a file stays where it has a header. */
  readonly files: readonly { readonly name: RegExp; readonly keep: (cells: readonly string[]) => boolean }[];
  readonly header: boolean;
  readonly mapping: string;
  /** In the mapping's text. */
  readonly replace?: readonly [from: RegExp, to: string];
  readonly book?: string;
  readonly name: string;
};

/** B3 trades from 13:15 to 19:54 UTC; before and after are auctions. */
const B3: readonly Session[] = ['AMBP3', 'P2LT34', 'BIAU39', 'ETHE11', 'XPML11'].flatMap(ticker =>
  ['2025-04-08', '2025-04-10'].map(day => ({
    set: 'b3-wide-2025-04-08_10-l1-trades',
    files: [
      {
        name: new RegExp(`^${ticker}_${day}`),
        keep: (cells: readonly string[]) => {
          const time = cells[2]?.slice(11, 16) ?? '';
          return time >= '13:15' && time < '19:54';
        },
      },
    ],
    ...{ header: true, mapping: 'b3.yaml', name: `b3-${ticker}-${day}` },
    replace: [/ambp3/gi, ticker] as const,
    book: `${ticker.toLowerCase()}_brl`,
  })),
);

/** From the opening; prints of exchange D (off-exchange) reach no order of a book. Of BAC three hours: there are four times as many rows. */
const US: readonly Session[] = [
  { ticker: 'ibm', hours: 6.5 },
  { ticker: 'bac', hours: 3 },
].flatMap(({ ticker, hours }) =>
  ['20131007', '20131009'].map(day => {
    const inside = (cells: readonly string[]): boolean =>
      Number(cells[0]) >= 34_200_000 && Number(cells[0]) < 34_200_000 + hours * 3_600_000;
    return {
      set: `us-${ticker}-2013-10-07_09-nbbo-trades`,
      files: [
        { name: new RegExp(`_${day}_quote`), keep: inside },
        { name: new RegExp(`_${day}_trade`), keep: (cells: readonly string[]) => inside(cells) && cells[3] !== 'D' },
      ],
      ...{ header: false, mapping: 'us-shares.yaml', book: `${ticker}_usd`, name: `us-${ticker}-${day}` },
    };
  }),
);

/** The hour that has both prices and trades. */
const ASTER: Session = {
  set: 'aster-2025-09-23_24-bbo-trades',
  files: [
    { name: /^prices_ASTERUSDT/, keep: cells => Number(cells[0]) >= 1_758_715_675 },
    { name: /^trades_ASTERUSDT/, keep: () => true },
  ],
  ...{ header: true, mapping: 'aster.yaml', name: 'aster-2025-09-24' },
};

/** As tapes in a folder, which is returned; `wanted`: of these names only. */
export async function sessionTapes(data: string, work: string, wanted?: readonly string[]): Promise<string> {
  const out = join(work, 'tapes');
  for (const { set, files, header, mapping, replace, book, name } of [...B3, ...US, ASTER]) {
    if (wanted !== undefined && !wanted.includes(name)) continue;
    const from = join(work, name);
    mkdirSync(from);
    for (const file of readdirSync(join(data, set))) {
      const told = files.find(one => one.name.test(file));
      if (told === undefined) continue;
      const lines = gunzipSync(readFileSync(join(data, set, file)))
        .toString('utf8')
        .split('\n');
      const kept = lines.filter((line, i) => (header && i === 0) || (line !== '' && told.keep(line.split(','))));
      writeFileSync(join(from, file.replace(/\.gz$/, '')), `${kept.join('\n')}\n`);
    }
    const text = readFileSync(join('docs/mappings', mapping), 'utf8');
    const path = join(work, `${name}.yaml`);
    const [what, to] = replace ?? [/$^/, ''];
    // Books are in small letters.
    writeFileSync(
      path,
      text.replace(what, found => (found === found.toLowerCase() ? to.toLowerCase() : to)),
    );
    await importTape({
      ...{ from, out: join(out, name), mapping: path, append: false, progress: progressBar() },
      ...(book === undefined ? {} : { book }),
    });
  }
  return out;
}
