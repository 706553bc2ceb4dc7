#!/usr/bin/env node
/**
 * Entry point: checks the process limits for open files and memory with the few modules that can always be loaded, then
 * loads the command line.
 */
import { writeSync } from 'node:fs';
import { smallLimitOf } from './wiring/processLimits.ts';
import { closeToDebuggers } from './wiring/safeProcess.ts';

closeToDebuggers();

const args = process.argv.slice(2);
const asksOnly =
  args[0] === undefined || args[0] === 'help' || args.some(arg => /^(-h|--help|-V|--version)$/.test(arg));
const tooSmall = asksOnly ? null : smallLimitOf(args[0]);
if (tooSmall === null) await import('./cli/program.ts');
else {
  try {
    writeSync(2, `${tooSmall}\n`);
  } catch {
    // If the message cannot be written, the exit code still reports the failure.
  }
  process.exitCode = 2;
}
