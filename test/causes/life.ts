/** What a row of the table is: the life of one bot process, and in it one cause after the other, with what a person reads of each. */
import type { AlertName } from '../../src/monitor/index.ts';
import type { Kind } from './kinds.ts';
import type { Scene } from './scene.ts';

export type Step = {
  readonly of: readonly Kind[];
  /** In words, for the page. */
  readonly cause: string;
  does?(scene: Scene): unknown;
  /** Lines of the log after it, in any order; `…` stands for anything. */
  readonly log?: readonly string[];
  /** True: /readyz says ready; else a reason that it gives. */
  readonly ready?: true | string;
  /** What the file HALTED says. */
  readonly halted?: string;
  /** A line of `puntas explain`. */
  readonly explain?: string;
  /** Lines of /metrics. */
  readonly metrics?: readonly string[];
  /** By name, with the summary that a person gets. */
  readonly alerts?: Readonly<Partial<Record<AlertName, string>>>;
};

export type Life = {
  readonly name: string;
  /** Which of the configurations that ship. */
  readonly shipped: 'sandbox' | 'live' | 'grid' | 'hedged' | 'elsewhere';
  /** Keys that are changed to have it soon; null takes one out. */
  readonly changes?: object;
  /** shared: the flow market that ships, with bots of other rows beside it; own: the same alone; by hand: the market is what the row makes of it. */
  readonly exchange: 'shared' | 'own' | 'by hand';
  readonly balances?: Readonly<Record<string, string>>;
  /** Balances on a second exchange, on which the bot hedges; without it there is none. */
  readonly there?: Readonly<Record<string, string>>;
  before?(scene: Scene): unknown;
  /** The line after which the first step begins. */
  readonly begins?: string;
  readonly steps: readonly Step[];
  /** Of the process, after SIGTERM; `by itself`: without one. */
  readonly code: number;
  readonly ends?: 'by itself';
};

/** Of a text in which `…` stands for anything. */
export const patternOf = (text: string): RegExp =>
  new RegExp(
    text
      .split('…')
      .map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*?'),
  );

export const kindsOf = ({ of, alerts = {} }: Step): readonly Kind[] => [
  ...of,
  ...Object.keys(alerts).map(name => `alert: ${name as AlertName}` as const),
];
