/**
 * fast-check whose laws have `PUNTAS_RUNS` times their runs: finds those that fail once in thousands of cases. vitest.config.js gives it to the tests
 * instead of the package. A failure prints its seed and path as always; with them in its parameters, the law fails without the variable too.
 */
import fc from 'fast-check';

function assert<Ts>(property: fc.IRawProperty<Ts>, params: fc.Parameters<Ts> = {}): void | Promise<void> {
  const numRuns = params.numRuns ?? fc.readConfigureGlobal().numRuns ?? 100;
  return fc.assert(property, { ...params, numRuns: Number(process.env['PUNTAS_RUNS']) * numRuns });
}

export default { ...fc, assert: assert as typeof fc.assert };
