/** Prints a page of metrics with every kind of series in it, for promtool. */
import { moneyOf } from '../../src/core/index.ts';
import { metrics, showProcess } from '../../src/monitor/index.ts';
import { calm } from './calm.ts';

const page = metrics('btc_mxn', '0.0.0', () => ({ ...calm(), notQuoting: ['stale-book'] }));
page.order('buy', 'placed');
page.fill('buy', [{ currency: 'btc', sum: moneyOf('0.004') }]);
showProcess(page);
page.request('POST orders', 'done', 12);
page.loop(1);
process.stdout.write(await page.text());
