/** Files of the package that pages and examples name by their path in the repository, such as config/tune.yaml. */
import { existsSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the folder of the package, from the source tree or the built one. */
export function packageFolder(): string {
  const folders = ['../../../', '../../../../'].map(up => fileURLToPath(new URL(up, import.meta.url)));
  return folders.find(folder => existsSync(join(folder, 'package.json'))) ?? folders[0]!;
}

const inFolder = (folder: string, names: readonly string[]): readonly string[] =>
  names.map(name => `${folder}/${name}`);

/**
 * Paths of the files that `puntas samples` writes, relative to the package and to the folder that receives them. They
 * are the shipped files that users copy and change.
 */
export const SAMPLE_FILES: readonly string[] = [
  'compose.live.yaml',
  ...inFolder('config', ['sandbox.yaml', 'live.yaml', 'paper.yaml', 'btc_usd.yaml', 'eth_usd.yaml']),
  ...inFolder('config', ['avellaneda-stoikov.yaml', 'glft.yaml', 'grid.yaml', 'imbalance.yaml', 'peg.yaml']),
  ...inFolder('config', [
    'hedged.yaml',
    'elsewhere.yaml',
    'desk.yaml',
    'desk-exchange.yaml',
    'tune.yaml',
    'promote.yaml',
  ]),
  ...inFolder('config', ['schema.json', 'compose/live.yaml', 'kubernetes/bot.yaml', 'grafana/puntas.json']),
  ...inFolder('config', ['fleet.yaml', 'fleet.schema.json', 'grafana/fleet.json', 'grafana/shadow.json']),
  ...inFolder('config/grafana/provisioning', ['dashboards/puntas.yaml', 'datasources/prometheus.yaml']),
  ...inFolder('config/prometheus', ['alertmanager.yml', 'alerts.test.yml', 'alerts.yml', 'compose.yml']),
  ...inFolder('config/prometheus', ['prometheus.yml']),
  ...inFolder('docs/mappings', ['aster.yaml', 'b3.yaml', 'binance-parquet.yaml', 'bitflyer.yaml', 'books.yaml']),
  ...inFolder('docs/mappings', ['bitso-2018-trades.yaml', 'bitso-2019-trades.yaml', 'five-venues.yaml', 'fx.yaml']),
  ...inFolder('docs/mappings', ['hyperliquid-raw.yaml', 'lobster.yaml', 'orders.yaml', 'truefx.yaml']),
  ...inFolder('docs/mappings', ['us-shares.yaml']),
];

/** Returns the advice for a file that does not exist: for a shipped file, how to write it; otherwise `advice`. */
export const missingFileAdvice = (path: string, advice: string): string =>
  SAMPLE_FILES.includes(normalize(path)) ? 'write the shipped files into this folder with: puntas samples' : advice;
