/**
 * Time limit and seed of each property (vitest.config.js). After the limit a property fails with the smallest case so
 * far. Otherwise a synchronous property that fails could shrink for an hour, and no timeout of its test would end it.
 * The seed is random without `PUNTAS_PROPERTY_SEED`; `.ci/run` sets it.
 */
import fc from 'fast-check';

const LIMIT_MS = 290_000;
const SEED = process.env['PUNTAS_PROPERTY_SEED'];

fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
  interruptAfterTimeLimit: LIMIT_MS * Number(process.env['PUNTAS_RUNS'] ?? 1),
  markInterruptAsFailure: true,
});
