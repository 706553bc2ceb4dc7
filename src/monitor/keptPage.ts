/** The page of metrics as it is served: rendered at most once a second, so that scrapes take no time from quoting, however many come. */
import type { Millis } from '../core/index.ts';

/** A page may be this old when it is served, in ms of the wall. */
export const KEPT_MS = 1_000;

export type KeptPage = {
  /** In Prometheus' text format. Rejects as the rendering does, and then keeps nothing. */
  text(): Promise<string>;
  /** What is asked for next is rendered anew. */
  forget(): void;
};

/** Keeps what `render` gives. `elapsed`: ms of the wall since some moment. Nothing is rendered while nobody asks. */
export function keptPage(render: () => Promise<string>, elapsed: () => Millis): KeptPage {
  let kept: { readonly at: Millis; readonly text: Promise<string> } | null = null;
  const forget = () => void (kept = null);
  return {
    text: () => {
      if (kept === null || elapsed() - kept.at >= KEPT_MS) {
        const text = render();
        kept = { at: elapsed(), text };
        text.catch(forget);
      }
      return kept.text;
    },
    forget,
  };
}
