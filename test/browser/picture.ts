/** Pictures of the pages, for the docs and for whoever looks at them: made where PUNTAS_PICTURES names a folder, and by no other run. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** Until a bot has run so long that a picture of it shows something; at once where none is made. */
export const enoughToShow = (): Promise<void> =>
  new Promise(resolve => setTimeout(resolve, process.env['PUNTAS_PICTURES'] === undefined ? 0 : 90_000));

/** Of what is seen of the page in a window of that size. */
export async function picture(page: Page, name: string, width: number, height: number): Promise<void> {
  const folder = process.env['PUNTAS_PICTURES'];
  const before = page.viewportSize();
  if (folder === undefined || before === null) return;
  await page.setViewportSize({ width, height });
  // A second: the next view, and charts of the new width.
  await page.waitForTimeout(1_500);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.setViewportSize(before);
}
