/** `puntas samples`: writes the shipped files that users copy and change, under the paths that the pages name. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LARGE_FILE, readRegularFile, writeOutputFile } from '../../guard/index.ts';
import { packageFolder, SAMPLE_FILES } from '../../wiring/shipped/shippedFiles.ts';
import { UsageError } from '../../wiring/usageError.ts';

/**
 * Writes every file of `SAMPLE_FILES` into a folder. Returns the written paths; a file that already has this content is
 * not written again.
 * @throws UsageError if a file exists with other content; nothing is written then.
 */
export function writeSamples(folder: string, from = packageFolder()): readonly string[] {
  const files = SAMPLE_FILES.map(path => ({
    path,
    to: join(folder, path),
    text: readRegularFile(join(from, path), LARGE_FILE),
  }));
  const missing = files.filter(({ to }) => !existsSync(to));
  const changed = files.filter(file => !missing.includes(file) && readRegularFile(file.to, LARGE_FILE) !== file.text);
  if (changed.length > 0)
    throw new UsageError(
      changed.map(({ to }) => `${to}: already exists with other content; move the file, or name another folder`),
    );
  for (const { to, text } of missing) writeOutputFile(to, text);
  return missing.map(({ to }) => to);
}
