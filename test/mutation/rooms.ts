/** Tests nearest to a source file, and further tests for the mutants that they leave alive. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';

export type Room = {
  /** Folder of the sources, with those below it that are no room of their own. */
  readonly sources: string;
  /** Folders and files of tests. */
  readonly nearest: readonly string[];
  /** Tests for the survivors of the nearest ones. */
  readonly further: readonly string[];
  /** Its tests take long: of a change only its lines are mutated, and mutants that every test must try are left out. */
  readonly isSlow: boolean;
};

/** Folders that a whole run covers. */
export const WHOLE = [
  'src/core',
  'src/hedge',
  'src/exchange',
  'src/marketdata',
  'src/live',
  'src/app/actions',
  'strategies',
] as const;

const ENGINE = ['engine', 'risk', 'orders', 'accounting'].map(name => `test/core/${name}`);
const REPLIES = ['client', 'replies', 'strangeRows', 'fixtures', 'echoes'].map(
  name => `test/exchange/bitso/${name}.test.ts`,
);
type Exception = { readonly nearest?: readonly string[]; readonly further?: readonly string[]; readonly slow?: true };
/** Tests of folders that have more than those of the same name under `test/`. */
const EXCEPTIONS: Readonly<Record<string, Exception>> = {
  'src/core/model': { further: [...ENGINE, 'test/core/quoting'] },
  'src/core/ports': { further: ENGINE },
  'src/core/text': { further: [...ENGINE, ...REPLIES] },
  'src/core/marketdata': { further: ENGINE },
  'src/core/orders': { further: ENGINE },
  'src/core/accounting': { further: ENGINE },
  'src/core/quoting': { further: [...ENGINE, 'test/core/quoting'] },
  'src/core/risk': { further: ENGINE },
  'src/core/hedging': { further: ['test/hedge'] },
  'src/core/engine': { further: [...ENGINE, 'test/core/quoting'] },
  'src/core/estimators': { further: ENGINE },
  'src/exchange/transport': { further: REPLIES },
  'src/exchange/wire': { nearest: ['test/exchange/wire', ...REPLIES] },
  'src/exchange/bitso/wire': { nearest: ['test/exchange/bitso/wire', ...REPLIES] },
  'src/exchange/bitso/rest': { nearest: REPLIES, further: ['test/conformance'] },
  'src/exchange/bitso/stream': { further: ['test/exchange'] },
  'src/exchange/kraken': { nearest: ['test/exchange/kraken'], further: ['test/krakenDouble/krakenDouble.test.ts'] },
  'src/hedge': { nearest: ['test/hedge'], slow: true },
  'src/marketdata': { further: ['test/live/market'], slow: true },
  'src/live': {
    nearest: ['test/live/connectivityLog.test.ts', 'test/live/demo.test.ts', 'test/live/loop'],
    slow: true,
  },
  'src/live/account': { slow: true },
  'src/live/files': { further: ['test/live/state'], slow: true },
  'src/live/inbox': { slow: true },
  'src/live/loop': { slow: true },
  'src/live/mailbox': { further: ['test/live/safety'], slow: true },
  'src/live/market': { slow: true },
  'src/live/recording': { nearest: ['test/live/loop/recordingRotation.test.ts', 'test/live/replay'], slow: true },
  'src/live/replay': { slow: true },
  'src/live/safety': { slow: true },
  'src/live/state': { further: ['test/live/loop/recovery.test.ts'], slow: true },
  'src/app/actions': { slow: true },
};

/** A test that cannot run in a thread, as Stryker does it. */
export const NOT_IN_THREADS = ['test/app/promote/promote.test.ts'];

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/** The room of a source file: the nearest folder that has tests of the same name. Throws if none has. */
export function roomOf(path: string, root = process.cwd()): Room {
  for (let folder = path; folder.includes('/') || folder === 'strategies';) {
    folder = folder.includes('/') ? folder.slice(0, folder.lastIndexOf('/')) : '';
    const exception = EXCEPTIONS[folder];
    const same = `test/${folder.replace(/^src\//, '')}`;
    if (exception === undefined && (folder === 'src' || folder === '' || !isFolder(join(root, same)))) continue;
    const { nearest = [same], further = [], slow } = exception ?? {};
    return { sources: folder, nearest, further, isSlow: slow === true };
  }
  throw new Error(`${path}: no folder of tests is near it; add one to EXCEPTIONS in test/mutation/rooms.ts`);
}

/** Every file below tests' folders, and the files among them. */
export function testFilesIn(tests: readonly string[], root = process.cwd()): readonly string[] {
  return tests
    .flatMap(test =>
      isFolder(join(root, test))
        ? readdirSync(join(root, test), { recursive: true, encoding: 'utf8' }).map(name => `${test}/${name}`)
        : [test],
    )
    .filter(path => path.endsWith('.ts'))
    .sort();
}

/** Identifies the content of tests, helpers beside them included. */
export function hashOfTests(tests: readonly string[], root = process.cwd()): string {
  const hash = createHash('sha256');
  for (const path of testFilesIn(tests, root)) hash.update(`${path}\n`).update(readFileSync(join(root, path)));
  return hash.digest('hex');
}
