/** The situations of docs/runbook.md on real processes, some minutes long: `.ci/runbook.sh`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: '.',
    include: ['test/runbook/main.ts'],
    globalSetup: ['test/cli/build.ts'],
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
    maxConcurrency: 8,
    retry: 0,
    allowOnly: false,
  },
});
