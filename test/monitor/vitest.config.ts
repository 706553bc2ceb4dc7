/** The panels of the dashboard against a real Prometheus, some minutes long: `.ci/metrics.sh`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: '.',
    include: ['test/monitor/panels.ts'],
    globalSetup: ['test/cli/build.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxConcurrency: 100,
    retry: 0,
    allowOnly: false,
  },
});
