/** Prints a page of metrics with every kind of series in it, for promtool. */
import { metrics } from '../../src/monitor/index.ts';
import { calm } from './calm.ts';

const page = metrics('btc_mxn', '0.0.0', () => ({ ...calm(), notQuoting: ['stale-book'] }));
page.order('buy', 'placed');
page.fill('buy');
page.request('POST orders', 'done', 12);
page.loop(1);
process.stdout.write(await page.text());
