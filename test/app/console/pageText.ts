/** The console's panels as the page makes them, read as text: no browser, and no markup. */
import { createRequire } from 'node:module';
import type { ConsoleView } from '../../../src/console/index.ts';

type Element = { readonly type: unknown; readonly props?: { readonly children?: unknown; readonly class?: string } };
type Panel = (view: ConsoleView, state: object) => unknown;

const NAMES = ['statePanels', 'marketPanels', 'accountPanels', 'elsewherePanel'] as const;

/** Every panel by its name, such as `ordersPanel`. */
export async function panels(): Promise<(name: string, view: ConsoleView) => string> {
  // The page loads it with a script of its own.
  Object.assign(globalThis, { preact: createRequire(import.meta.url)('preact') as object });
  const all: Record<string, Panel> = {};
  for (const name of NAMES) {
    const { href } = new URL(`../../../src/console/page/${name}.ts`, import.meta.url);
    Object.assign(all, (await import(/* @vite-ignore */ href)) as object);
  }
  return (name, view) => {
    const panel = all[name];
    if (panel === undefined) throw new Error(`the page has no ${name}`);
    const state = { isUp: true, past: null, live: view, problem: null, chosen: null, choose: () => undefined };
    return textOf(panel(view, state)).replaceAll(/\s+/g, ' ').trim();
  };
}

const BLOCKS = new Set(['div', 'p', 'li', 'tr', 'td', 'th', 'h1']);

/** As a browser's `innerText`, but for line breaks. */
export function textOf(node: unknown): string {
  if (node === null || node === undefined || typeof node === 'boolean') return '';
  if (typeof node === 'string' || typeof node === 'number') return String(node);
  if (Array.isArray(node)) return node.map(textOf).join('');
  const { type, props } = node as Element;
  const inside = textOf(props?.children);
  const isBox = props?.class?.startsWith('pill ') === true;
  return isBox || (typeof type === 'string' && BLOCKS.has(type)) ? ` ${inside} ` : inside;
}
