/** Parts that every README of a strategy has, a new one too: idea, formula, losses, parameters and a plot of its quotes. */
export const README_PARTS = [
  '**Idea.**',
  '**Formula**',
  '**When it loses.**',
  '## Parameters',
  '(quotes.svg)',
] as const;
