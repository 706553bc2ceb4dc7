/**
 * Check of ccxt for the sources of the reference price: whether it is installed and supports the exchanges of these
 * sources.
 */
import { installedCcxt, unknownId } from '../../ccxt/installed.ts';
import { finding, type Finding } from './finding.ts';

/** Returns the findings about exchanges with the given ccxt ids; none without ids. */
export function ccxtFindings(ids: readonly string[], found = installedCcxt()): readonly Finding[] {
  if (ids.length === 0) return [];
  if (found.kind === 'unusable')
    return [finding.fail('ccxt', found.sentence, 'install ccxt as described, then run puntas doctor again')];
  const wrong = ids.flatMap(id => unknownId(id, found.ids) ?? []);
  if (wrong.length > 0) return wrong.map(why => finding.fail('ccxt', why, 'correct the id in reference.sources'));
  return [finding.pass('ccxt', `ccxt ${found.version} is installed and has ${ids.join(', ')}`)];
}
