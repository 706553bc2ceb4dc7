/** Order and search of the rows of the fleet page. */
import type { FleetRow } from './fleetView.ts';

/** Columns by which rows can be sorted. */
export const SORT_COLUMNS = [
  ...['name', 'state', 'regime', 'profit', 'run', 'inventory', 'uptime', 'fill', 'alerts', 'version'],
] as const;
export type SortColumn = (typeof SORT_COLUMNS)[number];
export type SortOrder = { readonly column: SortColumn; readonly isDown: boolean };

/** Returns the severity of a row, from 0 (all is well) to 6 (the console is silent). */
export function severityOf({ state, bot, regime, alerts, sameAs, trouble }: FleetRow): number {
  if (state === 'silent') return 6;
  if (bot === 'silent') return 5;
  if (regime === 'halted') return 4;
  if (alerts.some(({ level }) => level === 'error') || sameAs !== null) return 3;
  if (bot === 'stopped' || bot === 'never ran' || regime === 'paused' || alerts.length > 0) return 2;
  return trouble === null && state === 'heard' ? 0 : 1;
}

/** Returns whether a row contains every word of a search; upper and lower case are equal. */
export function matchesSearch(row: FleetRow, search: string): boolean {
  const { name, book, instance, strategy, regime, bot, state, money, version, trouble, why, alerts } = row;
  const all = [name, book, instance, strategy, regime, bot, state, money, version, trouble, why]
    .concat(alerts.map(({ text }) => text))
    .join('\n')
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every(word => all.includes(word));
}

/**
 * Returns the rows in the order of a column. Unknown values are last in both directions; rows with equal values are
 * sorted by name.
 */
export function sortedRows(rows: readonly FleetRow[], { column, isDown }: SortOrder): readonly FleetRow[] {
  const sign = isDown ? -1 : 1;
  return rows
    .map(row => ({ row, key: sortKey(row, column) }))
    .sort((a, b) => {
      if (a.key === null || b.key === null)
        return Number(a.key === null) - Number(b.key === null) || byText(a.row.name, b.row.name);
      const order =
        typeof a.key === 'number' && typeof b.key === 'number' ? a.key - b.key : byText(String(a.key), String(b.key));
      return sign * order || byText(a.row.name, b.row.name);
    })
    .map(({ row }) => row);
}

/** Returns the value by which a column sorts. A float suffices to order sums; it is not shown. */
function sortKey(row: FleetRow, column: SortColumn): string | number | null {
  switch (column) {
    case 'name':
      return row.name;
    case 'state':
      return severityOf(row);
    case 'regime':
      return row.regime;
    case 'profit':
      return row.profit === null ? null : Number(row.profit);
    case 'run':
      return row.runProfit === null ? null : Number(row.runProfit);
    case 'inventory':
      return row.inventory === null ? null : Number(row.inventory);
    case 'uptime':
      return row.uptime;
    case 'fill':
      return row.lastFill?.agoMs ?? null;
    case 'alerts':
      return row.alerts.length;
    case 'version':
      return row.version;
  }
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
