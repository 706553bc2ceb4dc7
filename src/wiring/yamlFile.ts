/** A YAML file that is held against a schema: every mistake is one line with its place. */
import { readRegularFile, TEXT_FILE } from '../guard/index.ts';
import type { z } from 'zod';
import { problemsOf } from '../config/problems.ts';
import type { Problem } from '../config/problems.ts';
import { readYaml, YAML_LENGTH_MAX } from '../config/text/yamlText.ts';
import { UsageError } from './usageError.ts';

export type YamlFile<Data> = {
  readonly data: Data;
  readonly text: string;
  /** Throws `UsageError` with a line for each, in the order of the file. */
  readonly tell: (problems: readonly Problem[]) => never;
};

/** `what` such a file is called, `like` an example of a key with its value, `advice` how one is named. Throws `UsageError`. */
export function readYamlFile<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
  { what, like, advice }: { readonly what: string; readonly like: string; readonly advice: string },
): YamlFile<z.infer<Schema>> {
  const text = textOf(path, advice);
  if (text.length > YAML_LENGTH_MAX)
    throw new UsageError(`${path}: larger than ${YAML_LENGTH_MAX} characters, so not a ${what}`);
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

function textOf(path: string, advice: string): string {
  try {
    return readRegularFile(path, TEXT_FILE);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new UsageError(`${path}: ${code === 'ENOENT' ? 'no such file' : `cannot be read (${code})`}; ${advice}`);
  }
}
