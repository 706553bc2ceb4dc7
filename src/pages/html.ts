/** HTML that is safe by construction: a template escapes all values except the markup of other templates. */

const MADE = Symbol('made by a template');

/** Markup, which only the template `html` creates. */
export type Html = { readonly [MADE]: string };

type Part = string | number | Html | readonly Html[];

/**
 * Creates markup from a template. Values become escaped text, in elements or quoted attributes; `Html` values and lists
 * of them remain markup.
 */
export function html(markup: TemplateStringsArray, ...values: readonly Part[]): Html {
  return { [MADE]: markup.map((piece, i) => (i === 0 ? piece : `${partText(values[i - 1]!)}${piece}`)).join('') };
}

/** Returns the markup as text, for the complete page. */
export const textOfHtml = (of: Html): string => of[MADE];

/** Empty markup. */
export const NO_HTML: Html = html``;

function partText(part: Part): string {
  if (isList(part)) return part.map(partText).join('');
  return typeof part === 'object' ? part[MADE] : escaped(String(part));
}

const isList = (part: Part): part is readonly Html[] => Array.isArray(part);

/**
 * Escapes text for an element or a quoted attribute. Numbers are escaped too, because a value typed as a number may be
 * text.
 */
const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
