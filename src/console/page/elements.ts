/** What every panel of the console's page is made of. What comes from the exchange or the YAML is text, never markup. */
import type * as Preact from 'preact';
import type { State } from './state.ts';
import { withSign, tone } from './texts.ts';
import type { ConsoleView } from './view.ts';

/** Loaded before this script. */
declare const preact: typeof Preact;

/** Makes an element. */
export const { h, render } = preact;

export type Node = Preact.ComponentChild;
export type Panel = (view: ConsoleView, state: State) => Node;

/** A block of a class. */
export const div = (name: string, ...inside: Node[]): Node => h('div', { class: name }, ...inside);

/** A piece of a line, of a class. */
export const small = (name: string, ...inside: Node[]): Node => h('span', { class: name }, ...inside);

/** Says why there is nothing. */
export const none = (text: string): Node => div('none', text);

/** `head` and `rows` are cells; the first `texts` columns are written from the left. */
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

/** A sum with its sign, in the colour of a gain or a loss. */
export const signedSum = (text: string | null, decimals = 2): Node =>
  text === null ? small('soft', '–') : small(tone(text), withSign(text, decimals));
/** A side in its colour. */
export const sideText = (side: 'bid' | 'ask'): Node => small(side, side);
