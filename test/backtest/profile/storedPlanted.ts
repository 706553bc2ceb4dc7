/** A planted market as a stored tape, for commands that read one. */
import { TapeWriter } from '../../../src/tape/index.ts';
import { plantedMarket, type Planted } from './plantedMarket.ts';

/** Writes it into a folder that is not there yet, and returns that. */
export function storedPlanted(dir: string, seed: number, hours: number, truth: Planted): string {
  const { columns, rules } = plantedMarket(seed, hours, truth);
  const writer = new TapeWriter({ dir, rules, source: 'planted', depth: 1 });
  writer.append(columns);
  writer.close();
  return dir;
}
