/** A plot as data: made where the report is made, drawn by the page's own script. */

export type Line = {
  readonly label: string;
  /** Name of a colour of the page, without the dashes. */
  readonly colour: string;
  readonly style: 'line' | 'dashed' | 'bars' | 'up' | 'down' | 'dots';
  /** In pixels; 1.75 when left out. A line that may hide another is the thinner one, and comes after it. */
  readonly width?: number;
  /** One for each x; null where nothing is known. */
  readonly values: readonly (number | null)[];
  /** Half lengths of error bars. */
  readonly errors?: readonly (number | null)[];
  /** From where to where a value could lie: a bar behind it. */
  readonly spans?: readonly (readonly [number, number] | null)[];
  /** Also a dot at every value. */
  readonly dots?: boolean;
};

export type Plot = {
  /** Id of the element that it is drawn into. */
  readonly id: string;
  /** For a reader who cannot see it, and above small ones. */
  readonly title: string;
  /** Times are in ms since 1970; names stand at 0, 1, 2 and so on, values at those places or near them. */
  readonly x: {
    readonly kind: 'time' | 'names' | 'number' | 'log';
    readonly values: readonly number[];
    readonly names?: readonly string[];
    readonly label: string;
  };
  readonly y: { readonly label: string; readonly range: readonly [number, number] | null };
  readonly lines: readonly Line[];
  /** Stretches of x of which the recording knows nothing. */
  readonly shades: readonly (readonly [number, number])[];
  /** Plots of one group share pointer and zoom. */
  readonly group: string | null;
};
