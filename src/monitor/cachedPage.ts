/**
 * Cache of the metrics page. The page is rendered at most once per second, so that frequent scrapes do not delay
 * quoting.
 */
import type { Millis } from '../core/index.ts';

/** Maximum age of a served page, in ms. */
export const PAGE_AGE_MAX_MS = 1_000;

export type CachedPage = {
  /** Returns the page in Prometheus' text format. If rendering fails, rejects without caching. */
  text(): Promise<string>;
  /** Clears the cache, so that the next request renders the page again. */
  forget(): void;
};

/** Caches the result of `render`, which runs only on request. `elapsed` returns monotonic ms. */
export function cachedPage(render: () => Promise<string>, elapsed: () => Millis): CachedPage {
  let kept: { readonly at: Millis; readonly text: Promise<string> } | null = null;
  const forget = () => void (kept = null);
  return {
    text: () => {
      if (kept === null || elapsed() - kept.at >= PAGE_AGE_MAX_MS) {
        const text = render();
        kept = { at: elapsed(), text };
        text.catch(forget);
      }
      return kept.text;
    },
    forget,
  };
}
