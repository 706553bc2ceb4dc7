/** Counts words and sentences of a Markdown page. */

/** Tokens with a letter or a digit: the bars of a table are none. */
export const wordsIn = (text: string): number => text.split(/\s+/).filter(token => /[\p{L}\p{N}]/u.test(token)).length;

/** Sentences of the prose: without blocks of code, tables, headings and comments; each item of a list stands alone. */
export function sentencesIn(page: string): readonly string[] {
  const prose = page
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/^( *)```[\s\S]*?^\1```/gm, '\n')
    .replace(/^ *\|.*$/gm, '\n')
    .replace(/^#+ .*$/gm, '\n')
    .replace(/^!\[.*$/gm, '\n')
    .replace(/^ *(?:[-*]|\d+\.) /gm, '\n');
  return prose
    .split(/\n\s*\n/)
    .map(paragraph => paragraph.replace(/\s+/g, ' ').trim())
    .flatMap(paragraph => paragraph.split(/(?<=[.!?][)*_]{0,2}) (?=["'`*_[(]{0,2}[A-Z`[])/))
    .filter(sentence => wordsIn(sentence) > 0);
}

export const WORDS_IN_SENTENCE_MAX = 30;

export const longSentencesIn = (page: string): readonly string[] =>
  sentencesIn(page).filter(sentence => wordsIn(sentence) > WORDS_IN_SENTENCE_MAX);
