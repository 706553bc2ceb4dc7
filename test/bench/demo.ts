/** Prints the table of strategies/ladder/README.md: what the default configuration earns on the built-in market, over several seeds. */
import { demo } from '../live/demo.ts';

const [seeds = 20, seconds = 3_600] = process.argv.slice(2).map(Number);
const rows: Record<string, number>[] = [];
for (let seed = 1; seed <= seeds; seed++) {
  const { summary, bothSidesAfter, firstFillAfter, left } = await demo(seed, seconds);
  const { pnl, fills, orders, uptime } = summary;
  if (pnl === null || fills === null) throw new Error(`seed ${seed}: ${summary.figuresUnknown}`);
  rows.push({
    'both sides after, s': bothSidesAfter,
    'first fill after, s': firstFillAfter,
    fills,
    spread: Number(pnl.spread),
    inventory: Number(pnl.inventory),
    fees: Number(pnl.fees),
    total: Number(pnl.total),
    'bid uptime': uptime.bid,
    'ask uptime': uptime.ask,
    placed: orders.placed,
    refused: orders.refused,
    unknown: orders.unknown,
    'left or not matching': left.length + (summary.ledgerMatches ? 0 : 1),
  });
  process.stderr.write(`seed ${seed}: ${JSON.stringify(rows.at(-1))}\n`);
}
console.log(
  `| ${seeds} seeds of ${seconds} s | mean | standard deviation | lowest | highest |\n|---|---:|---:|---:|---:|`,
);
for (const name of Object.keys(rows[0] ?? {})) {
  // A first fill that never came has no time: it is counted in the lowest number of fills.
  const values = rows.map(row => row[name]!).filter(Number.isFinite);
  const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / Math.max(1, values.length - 1));
  const cells = [mean, deviation, Math.min(...values), Math.max(...values)].map(x =>
    values.length === 0 ? '–' : String(Number(x.toPrecision(4))),
  );
  console.log(`| ${[name, ...cells].join(' | ')} |`);
}
