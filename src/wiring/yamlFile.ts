/** YAML file validated by a schema, with one line and position for every error. */
import { TEXT_FILE } from '../guard/index.ts';
import type { z } from 'zod';
import { problemsOf, type Problem } from '../config/problems.ts';
import { readYaml, YAML_LENGTH_MAX } from '../config/text/yamlText.ts';
import { missingFileAdvice } from './shipped/shippedFiles.ts';
import { readGivenFile, UsageError } from './usageError.ts';

export type YamlFile<Data> = {
  readonly data: Data;
  readonly text: string;
  /** Throws a `UsageError` with one line per problem, in the order of the file. */
  readonly tell: (problems: readonly Problem[]) => never;
};

/**
 * Reads a YAML file. `what`: kind of file, for errors; `like`: example of a key with its value. `advice`: advice for a
 * file that cannot be read, such as the option that names the file.
 * @throws UsageError on any problem.
 */
export function readYamlFile<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  { what, like, advice }: { readonly what: string; readonly like: string; readonly advice: string },
): YamlFile<z.infer<Schema>> {
  const text = readGivenFile(path, TEXT_FILE, missingFileAdvice(path, advice));
  if (text.length > YAML_LENGTH_MAX)
    throw new UsageError(`${path}: expected a ${what} of at most ${YAML_LENGTH_MAX} characters, found ${text.length}`);
  const read = readYaml(text, path, like);
  if (!read.ok) throw new UsageError(read.error);
  const tell = (problems: readonly Problem[]): never => {
    throw new UsageError(
      problems
        .map(problem => ({ problem, offset: read.offset(problem) }))
        .sort((a, b) => a.offset - b.offset)
        .map(
          ({ problem, offset }) => `${read.place(offset)} ${problem.path.map(String).join('.')}: ${problem.message}`,
        ),
    );
  };
  const parsed = schema.safeParse(read.value);
  if (parsed.success) return { data: parsed.data, text, tell };
  return tell(parsed.error.issues.flatMap(issue => problemsOf(issue, schema, read.value, at => read.source(at))));
}
