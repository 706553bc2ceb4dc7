/** A plot as data: the program writes it into the page, and the page's script draws it. */

export type Line = {
  readonly label: string;
  /** Name of the page's CSS variable for the color, without the leading dashes. */
  readonly colour: string;
  readonly style: 'line' | 'dashed' | 'bars' | 'up' | 'down' | 'dots';
  /**
   * Width in pixels; default 1.75, or 1.25 if dashed. A line drawn over another line is thinner, so that both are
   * visible.
   */
  readonly width?: number;
  /** Values of the line, one for each x; `null` if unknown. */
  readonly values: readonly (number | null)[];
  /** Length of the error bar above and below each value; `null` for no bar. */
  readonly errors?: readonly (number | null)[];
  /** Range of possible values at each x, drawn as a bar behind the value; `null` for no bar. */
  readonly spans?: readonly (readonly [number, number] | null)[];
  /** Whether each value also has a dot. */
  readonly dots?: boolean;
};

export type Plot = {
  /** Id of the element that shows the plot. */
  readonly id: string;
  /** Title for screen readers, also shown above small plots. */
  readonly title: string;
  /**
   * X axis. `values` has the position of each point: epoch ms for times; for names, numbers at or near 0, 1, 2 and so
   * on, which are the positions of the names.
   */
  readonly x: {
    readonly kind: 'time' | 'names' | 'number' | 'log';
    readonly values: readonly number[];
    readonly names?: readonly string[];
    readonly label: string;
  };
  readonly y: { readonly label: string; readonly range: readonly [number, number] | null };
  readonly lines: readonly Line[];
  /** Ranges of x for which the recording has no data. */
  readonly shades: readonly (readonly [number, number])[];
  /** Name of a group of plots that share pointer and zoom; `null` for none. */
  readonly group: string | null;
};
