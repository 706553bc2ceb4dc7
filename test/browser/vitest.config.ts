/** Apart from `npm test`: this needs a browser, which .ci/browser.sh brings. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: '.',
    include: ['test/browser/page.ts'],
    globalSetup: ['test/cli/build.ts'],
    testTimeout: 60_000,
    retry: 0,
    allowOnly: false,
  },
});
