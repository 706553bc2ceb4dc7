/** Studies over real queues, Redis and PostgreSQL, a minute long and mostly waiting: `.ci/queue.sh`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: '.',
    include: ['test/queue/queues.ts'],
    globalSetup: ['test/cli/build.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    retry: 0,
    allowOnly: false,
  },
});
