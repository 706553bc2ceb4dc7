/** Plugin of Stryker: runs only the mutants that are wanted, and prints each result as soon as it is known. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { idOf, RESULT, TESTS, WANTED, type Position, type Result } from './protocol.ts';

type Mutant = {
  readonly id: string;
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement: string;
  readonly location: { readonly start: Position };
};

/** `TestStatus.Success` of Stryker. */
const PASSED = 0;

/** Each checker and the reporter are made in the folder of the copy. */
function wantedIds(): ReadonlyMap<string, ReadonlySet<string>> {
  const lists = JSON.parse(readFileSync(process.env[WANTED]!, 'utf8')) as Record<string, readonly string[]>;
  return new Map(Object.entries(lists).map(([path, ids]) => [path, new Set(ids)]));
}
const pathOf = (mutant: Mutant): string => relative(process.cwd(), mutant.fileName);

class Wanted {
  readonly #ids = wantedIds();

  async init(): Promise<void> {}

  async group(mutants: readonly Mutant[]): Promise<readonly (readonly string[])[]> {
    return [mutants.map(({ id }) => id)];
  }

  async check(mutants: readonly Mutant[]): Promise<Record<string, object>> {
    return Object.fromEntries(
      mutants.map(mutant => [
        mutant.id,
        this.#ids.get(pathOf(mutant))?.has(idOf(mutant.location.start, mutant.mutatorName, mutant.replacement))
          ? { status: 'passed' }
          : { status: 'compileError', reason: 'not wanted' },
      ]),
    );
  }
}

class EachResult {
  readonly #ids = wantedIds();

  onDryRunCompleted({ result }: { readonly result: { readonly tests: readonly { readonly status: number }[] } }): void {
    process.stdout.write(`${TESTS}${result.tests.filter(({ status }) => status === PASSED).length}\n`);
  }

  onMutantTested(mutant: Mutant & { readonly status: string }): void {
    // Reports count from 1.
    const { line, column } = mutant.location.start;
    const id = idOf({ line: line - 1, column: column - 1 }, mutant.mutatorName, mutant.replacement);
    const file = pathOf(mutant);
    if (this.#ids.get(file)?.has(id) !== true) return;
    const result: Result = { file, id, status: mutant.status };
    process.stdout.write(`${RESULT}${JSON.stringify(result)}\n`);
  }
}

export const strykerPlugins = [
  { kind: 'Checker', name: 'wanted', injectableClass: Wanted },
  { kind: 'Reporter', name: 'each-result', injectableClass: EachResult },
];
