/** Files of a study: the page, its numbers as JSON, and the best configuration. */
import type { Tuning } from '../../index.ts';
import { dirname } from 'node:path';
import { jsonBeside, writeOut, writePage } from '../../../src/wiring/outFiles.ts';
import type { Tuned } from './tune.ts';

/** Paths of the files to write. */
export type TuningFiles = {
  /** Path of the page; its numbers as JSON are written next to it. */
  readonly out?: string;
  readonly yaml?: string;
  /** Whether to write the configuration even if the verdict is that no trial is better than not trading. */
  readonly anyway: boolean;
};

/**
 * Writes each file completely or not at all. `page` returns the page as text. Returns whether the configuration was
 * written. Throws `UsageError` if a file cannot be written.
 */
export function writeTuning(
  { tuning, yaml }: Tuned,
  { out, yaml: file, anyway }: TuningFiles,
  page: (tuning: Tuning) => string,
): boolean {
  if (out !== undefined) writePage(out, jsonBeside(out), tuning, () => page(tuning));
  if (file === undefined || yaml === null || !(tuning.verdict.better || anyway)) return false;
  const text = yaml(dirname(file));
  writeOut(file, () => text);
  return true;
}
