/**
 * Draws what a strategy of a shipped configuration would quote at each inventory, as SVG. By hand, as is hedgePlot: two pictures of lines and a few
 * numbers. Observable Plot 0.6 needs a document beside it (jsdom 29; 81 packages and 35 MB together), d3's parts would save the seven lines of a path.
 */
import { readFileSync } from 'node:fs';
import { loadConfig } from '../../../src/config.ts';
import { amountFloor, instrumentOf, price, type Quote, type View } from '../../../src/core/index.ts';
import { kindOf, type StrategyName } from '../../../strategies/index.ts';
import { bookRules, depthOf } from '../../core/market.ts';
import { pathOf } from '../../scripts/svgPath.ts';
import { fileOf } from '../../strategies/examples.ts';

const WIDTH = 640;
const HEIGHT = 320;
const LEFT = 60;
const RIGHT = 20;
const TOP = 34;
const BOTTOM = 44;
const POINTS = 160;
/** The best fee tier of the mxn books. */
const MAKER_RATE = 100_000;
const COLORS = { bids: '#1a7f5a', asks: '#b3403a' } as const;

type Point = { readonly inventory: number; readonly quote: Quote };

export function quotesPlot(name: StrategyName): string {
  const file = `config/${fileOf(name)}.yaml`;
  const loaded = loadConfig(readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8'), file);
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const { strategy, limits } = loaded.config;
  const instrument = instrumentOf(bookRules({ tickSize: '10', minimumPrice: '10' }));
  const mid = 150_000;
  const cap = amountFloor(instrument, limits.positionMax);
  const side = (away: number) =>
    Array.from({ length: 10 }, (_, i): [number, number] => [mid + away * (100 + 20 * i), 10_000_000]);
  const viewAt = (position: number): View => ({
    at: 0,
    instrument,
    depth: depthOf(side(-1), side(1)),
    mid,
    lastTrade: price(0),
    hearsTrades: false,
    reference: { at: 0, price: mid },
    position,
    positionMax: cap,
    makerRate: MAKER_RATE,
    takerRate: MAKER_RATE,
    widenBps: { buy: 0, sell: 0 },
    lastBuy: null,
    lastSell: null,
  });
  const points = Array.from({ length: POINTS + 1 }, (_, i): Point => {
    const position = Math.round(-cap + (2 * cap * i) / POINTS);
    const quote = kindOf(strategy).make(strategy, instrument).quote(viewAt(position));
    return { inventory: position / 1e8, quote };
  });
  const most = Number(limits.positionMax);
  return draw(points, mid, most, `${name}: ${file}, maker fee 0.100%`);
}

function draw(points: readonly Point[], mid: number, most: number, title: string): string {
  const bpsOf = (ticks: number): number => (ticks / mid - 1) * 10_000;
  const all = points.flatMap(({ quote }) => [...quote.bids, ...quote.asks].map(level => Math.abs(bpsOf(level.price))));
  const top = Math.ceil((Math.max(...all) * 1.05) / 10) * 10;
  const x = (inventory: number): string =>
    (LEFT + ((inventory + most) / (2 * most)) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const y = (bps: number): string => (TOP + ((top - bps) / (2 * top)) * (HEIGHT - TOP - BOTTOM)).toFixed(1);
  const lines = (['bids', 'asks'] as const).flatMap(of => {
    const levels = Math.max(...points.map(({ quote }) => quote[of].length));
    return Array.from({ length: levels }, (_, level) => {
      const path = pathOf(
        points.map(({ inventory, quote }) => {
          const found = quote[of][level];
          return found === undefined ? null : `${x(inventory)} ${y(bpsOf(found.price))}`;
        }),
      );
      const width = level === 0 ? 2 : 1;
      return `<path d="${path}" stroke="${COLORS[of]}" stroke-width="${width}" opacity="${level === 0 ? 1 : 0.5}"/>`;
    });
  });
  const rule = (bps: number): string =>
    `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(bps)}" y2="${y(bps)}" stroke="#ccc"/>` +
    `<text x="${LEFT - 6}" y="${Number(y(bps)) + 4}" text-anchor="end">${bps > 0 ? '+' : ''}${bps}</text>`;
  const mark = (inventory: number): string =>
    `<text x="${x(inventory)}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${inventory > 0 ? '+' : ''}${inventory}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12" fill="#333">`,
    `<title>${title}: quotes against inventory</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${LEFT}" y="20">${title}</text>`,
    ...[-top, -top / 2, 0, top / 2, top].map(rule),
    ...[-most, -most / 2, 0, most / 2, most].map(mark),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">inventory away from the target, btc</text>`,
    `<text x="14" y="${(TOP + HEIGHT - BOTTOM) / 2}" text-anchor="middle" transform="rotate(-90 14 ${(TOP + HEIGHT - BOTTOM) / 2})">bps from the middle</text>`,
    '<g fill="none">',
    ...lines,
    '</g>',
    `<text x="${WIDTH - RIGHT}" y="20" text-anchor="end"><tspan fill="${COLORS.asks}">asks</tspan> <tspan fill="${COLORS.bids}">bids</tspan></text>`,
    '</svg>',
    '',
  ].join('\n');
}
