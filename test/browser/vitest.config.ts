/** Apart from `npm test`: this needs a browser, which .ci/browser.sh brings. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: '.',
    include: [
      'test/browser/page.ts',
      'test/browser/console.ts',
      'test/browser/consoleActions.ts',
      'test/browser/consoleAttacks.ts',
      'test/browser/desk.ts',
      'test/browser/fleet.ts',
      'test/browser/phoneChanges.ts',
      'test/browser/tuning.ts',
    ],
    globalSetup: ['test/cli/build.ts'],
    testTimeout: 300_000,
    retry: 0,
    allowOnly: false,
  },
});
