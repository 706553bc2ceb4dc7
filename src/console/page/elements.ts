/** Elements of the panels. Content from the exchange or the YAML is text, never markup. */
import type * as Preact from 'preact';
import type { State } from './state.ts';
import { withSign, tone } from './texts.ts';
import type { ConsoleView } from './view.ts';

/** Library preact, loaded before this script. */
declare const preact: typeof Preact;

/** Functions of preact that create and render elements. */
export const { h, render } = preact;

export type Node = Preact.ComponentChild;
export type Panel = (view: ConsoleView, state: State) => Node;

/** Returns the element of the page with this id, which the document contains. */
export const pageElement = (id: string): HTMLElement => document.getElementById(id)!;

/** Creates a block element with a class. */
export const div = (name: string, ...inside: Node[]): Node => h('div', { class: name }, ...inside);

/** Creates an inline element with a class. */
export const small = (name: string, ...inside: Node[]): Node => h('span', { class: name }, ...inside);

/** Creates a row with a name and a text, and below it a meter of a share. */
export const meterRow = (name: string, text: string, share: number): readonly Node[] => [
  div('row', small('', name), small('soft', text)),
  h(
    'div',
    {
      class: `meter ${share >= 0.9 ? 'bad' : share >= 0.6 ? 'fair' : ''}`,
      role: 'meter',
      'aria-label': name,
      'aria-valuemin': 0,
      'aria-valuemax': 100,
      'aria-valuenow': Math.round(share * 100),
    },
    h('i', { style: { width: `${Math.min(100, share * 100)}%` } }),
  ),
];

/** Creates the text of an empty panel. */
export const none = (text: string): Node => div('none', text);

/** Creates a table. `head` and `rows` contain cells; the first `texts` columns are left-aligned. */
export function tableOf(head: readonly string[], rows: readonly (readonly Node[])[], texts = 1): Node {
  const kind = (i: number) => (i < texts ? 'text' : '');
  return div(
    'wide',
    h(
      'table',
      null,
      h('thead', null, h('tr', null, ...head.map((name, i) => h('th', { class: kind(i), scope: 'col' }, name)))),
      h(
        'tbody',
        null,
        ...rows.map(cells => h('tr', null, ...cells.map((cell, i) => h('td', { class: kind(i) }, cell)))),
      ),
    ),
  );
}

/** Formats a signed sum in the color of a gain or a loss. */
export const signedSum = (text: string | null): Node =>
  text === null ? small('soft', '–') : small(tone(text), withSign(text, 2));
/** Formats a side in its color. */
export const sideText = (side: 'bid' | 'ask'): Node => small(side, side);
