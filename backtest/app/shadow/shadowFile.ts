/**
 * File of a shadow in the state directory: its memory at the start of the current run. After a restart, the shadow
 * replays this run.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { textOfError } from '../../../src/core/index.ts';
import { LARGE_FILE, readRegularFile, writeOutputFile } from '../../../src/guard/index.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { newMemory, type ShadowMemory } from '../../shadow/memory.ts';

export const SHADOW_FILE = 'shadow.json';

export type StoredShadow = {
  readonly version: 1;
  /**
   * Fill model of the memory. With another model, the shadow starts without memory, because the normal values differ.
   */
  readonly model: string;
  /** Reported alarms of the current run, each as `RUN TIME DETECTOR`; a restart does not report them again. */
  readonly reported: readonly string[];
  readonly memory: ShadowMemory;
};

/** Returns the state of a shadow before its first run. */
export const newShadow = (model: string): StoredShadow => ({ version: 1, model, reported: [], memory: newMemory() });

/**
 * Returns the stored shadow; a new one if there is no file or its fill model differs.
 * @throws UsageError if the file cannot be used.
 */
export function readShadow(dir: string, model: string): StoredShadow {
  const path = join(dir, SHADOW_FILE);
  const fresh = newShadow(model);
  if (!existsSync(path)) return fresh;
  try {
    const stored = JSON.parse(readRegularFile(path, LARGE_FILE)) as Partial<StoredShadow>;
    if (stored.version !== 1 || !hasSameShape(stored.memory, fresh.memory) || !Array.isArray(stored.reported))
      throw new RangeError('its content is not the state of a shadow of this version');
    return stored.model === model ? (stored as StoredShadow) : fresh;
  } catch (error) {
    throw new UsageError(`${path}: cannot be used (${textOfError(error)}); delete the file to start again`);
  }
}

/** Writes the file completely or not at all. Throws if the disk does not accept the file. */
export const writeShadow = (dir: string, stored: StoredShadow): void =>
  writeOutputFile(join(dir, SHADOW_FILE), `${JSON.stringify(stored)}\n`);

/** Whether `value` has every key of `model`, with values of the same types. Lists may have any length. */
function hasSameShape(value: unknown, model: unknown): boolean {
  if (model === null) return true;
  if (typeof value !== typeof model || Array.isArray(value) !== Array.isArray(model)) return false;
  if (typeof value !== 'object' || value === null || typeof model !== 'object' || Array.isArray(model)) return true;
  return Object.entries(model).every(([key, inside]) => hasSameShape(Reflect.get(value, key), inside));
}
