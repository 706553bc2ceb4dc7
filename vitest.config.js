// Tests: everything under test/ that is called *.test.ts. Where a test needs recordings, PUNTAS_DATA says where they lie.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // A test that passes only the second time is a failing test.
    retry: 0,
    allowOnly: false,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'strategies/**/*.ts', 'backtest/**/*.ts'],
      reporter: ['text-summary', 'html'],
    },
  },
});
