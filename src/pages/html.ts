/** HTML that is safe by construction: what is put into a template is text and is escaped, unless it was made by a template itself. */

const MADE = Symbol('made by a template');

/** Markup. Only `html` makes it. */
export type Html = { readonly [MADE]: string };

type Part = string | number | Html | readonly Html[];

/** A template of markup: each value becomes text, in an element or between the quotes of an attribute; markup, alone or in a list, stays what it is. */
export function html(markup: TemplateStringsArray, ...values: readonly Part[]): Html {
  return { [MADE]: markup.map((piece, i) => (i === 0 ? piece : `${partText(values[i - 1]!)}${piece}`)).join('') };
}

/** For the page as a whole. */
export const textOfHtml = (of: Html): string => of[MADE];

/** Nothing. */
export const NO_HTML: Html = html``;

function partText(part: Part): string {
  if (isList(part)) return part.map(partText).join('');
  return typeof part === 'object' ? part[MADE] : escaped(String(part));
}

const isList = (part: Part): part is readonly Html[] => Array.isArray(part);

/** In an element or an attribute in quotes; also from who says that a number comes and brings text. */
const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
