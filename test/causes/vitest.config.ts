/** Each regime, halt, pause and alert on real processes, some minutes long: `.ci/causes.sh`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: '.',
    include: ['test/causes/main.ts'],
    globalSetup: ['test/cli/build.ts'],
    // Each wait has its own bound and says what did not come; this one is for what has none.
    testTimeout: 1_800_000,
    hookTimeout: 300_000,
    maxConcurrency: 10,
    retry: 0,
    allowOnly: false,
  },
});
