// Tests: everything under test/ that is called *.test.ts. Where a test needs recordings, PUNTAS_DATA says where they lie.
import { defineConfig } from 'vitest/config';

const PROGRAM = 'test/cli/**/*.test.ts';

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A test that passes only the second time is a failing test.
    retry: 0,
    allowOnly: false,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'strategies/**/*.ts', 'backtest/**/*.ts'],
      reporter: ['text-summary', 'html'],
    },
    projects: [
      { extends: true, test: { name: 'rooms', include: ['test/**/*.test.ts'], exclude: [PROGRAM] } },
      // These run the built program as a user does; it is built once before them.
      {
        extends: true,
        test: { name: 'program', include: [PROGRAM], globalSetup: ['test/cli/build.ts'], testTimeout: 300_000 },
      },
    ],
  },
});
