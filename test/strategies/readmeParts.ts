/** What the README of every strategy has, of a new one too: its idea, formula, losses, parameters and a plot of its quotes. */
export const README_PARTS = [
  '**Idea.**',
  '**Formula**',
  '**When it loses.**',
  '## Parameters',
  '(quotes.svg)',
] as const;
