/** Everything that other rooms may import from monitor. */
export { metrics, showProcess } from './metrics.ts';
export type { Metrics, Monitored, OrderEvent, PnlPart, RequestOutcome } from './metrics.ts';
export { serveMonitor } from './serve.ts';
export type { MonitorOptions, MonitorServer } from './serve.ts';
