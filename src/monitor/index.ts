/** Exports of monitor for other layers. */
export { watchEventLoop } from './eventLoop.ts';
export { cachedPage } from './cachedPage.ts';
export { LastScrape } from './lastScrape.ts';
export type { CachedPage } from './cachedPage.ts';
export { ALERT_NAMES, METRICS } from './metrics.ts';
export type { AlertName, MetricName } from './metrics.ts';
export { metrics, showProcess } from './registry.ts';
export type { Metrics } from './registry.ts';
export type { Monitored, OrderEvent, PnlPart, RequestOutcome } from './monitored.ts';
export { CONSOLE_AGENT, serveMonitor } from './serve.ts';
export type { MonitorOptions, MonitorServer } from './serve.ts';
