/** Everything that other rooms may import from monitor. */
export { METRICS } from './metrics.ts';
export { metrics, showProcess } from './registry.ts';
export type { Metrics } from './registry.ts';
export type { Monitored, OrderEvent, PnlPart, RequestOutcome } from './monitored.ts';
export { serveMonitor } from './serve.ts';
export type { MonitorOptions, MonitorServer } from './serve.ts';
