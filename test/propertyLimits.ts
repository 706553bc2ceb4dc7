/**
 * Time limit of each property (vitest.config.js): after it a property fails with the smallest case so far. Otherwise a
 * synchronous property that fails could shrink for an hour, and no timeout of its test would end it.
 */
import fc from 'fast-check';

const LIMIT_MS = 290_000;

fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  interruptAfterTimeLimit: LIMIT_MS * Number(process.env['PUNTAS_RUNS'] ?? 1),
  markInterruptAsFailure: true,
});
