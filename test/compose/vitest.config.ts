/** The services of compose.yaml and compose.live.yaml as processes, in a network of their own: `.ci/compose.sh`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: '.',
    include: ['test/compose/main.ts', 'test/compose/live.ts'],
    fileParallelism: false,
    globalSetup: ['test/cli/build.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    retry: 0,
    allowOnly: false,
  },
});
