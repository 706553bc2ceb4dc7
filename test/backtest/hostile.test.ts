/** A tape, a configuration or an exchange may say anything: none of it becomes markup of a page, whatever kind of value it came as. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { html, textOfHtml } from '../../src/pages/index.ts';
import { reportPage, type BacktestReport, type ReplayReport } from '../../backtest/index.ts';
import { runs, whole } from './reports.ts';

const PARTS = { library: 'var uPlot = 1;', libraryStyle: '.uplot{}', script: 'export {};' };
const traded = runs();

/** Markup, with something arbitrary in it. */
const evil = fc
  .tuple(
    fc.constantFrom('<form action=', '<base href=', '<img src=', '<script>', '</pre><a href=', '"><b '),
    fc.string(),
  )
  .map(([front, rest]) => `${front}${rest}>`);

/** Every text in a value, and every number too, replaced: a file that is read as JSON can bring text where a number is meant. */
function filled(value: unknown, by: string, numbers: boolean): unknown {
  if (typeof value === 'string' || (numbers && typeof value === 'number')) return by;
  if (Array.isArray(value)) return value.map(entry => filled(entry, by, numbers));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, filled(entry, by, numbers)]));
}

/** Of the page what a browser reads as markup: without its scripts, styles and their data. */
const markupOf = (page: string): string => page.replace(/<(script|style)\b[^>]*>.*?<\/\1>/gs, '');
const bare = (page: string): string => markupOf(page).replace(/[\s]+/g, ' ');

describe('a page', () => {
  test('shows every text of a report as text', () => {
    const tags = (page: string) => [...new Set([...markupOf(page).matchAll(/<[a-z]+/g)].map(([tag]) => tag))].sort();
    const plain = tags(reportPage(whole(traded), PARTS));
    fc.assert(
      fc.property(evil, text => {
        const { tape, models, ...others } = whole(traded, {
          tape: {
            source: text,
            hash: text,
            dirt: [{ what: text, count: text as never, done: text, first: text }],
            gaps: [{ from: 0, to: 1, why: text }],
          },
        });
        const named = models.map(model => ({
          ...model,
          model: text,
          haltedBecause: text,
          from: text,
          to: text,
          holdings: { [text]: text },
          missing: [{ reason: text, decisions: 1 }],
          pnl: filled(model.pnl, text, true),
          requests: filled(model.requests, text, true),
          uptime: filled(model.uptime, text, true),
        })) as unknown as ReplayReport[];
        const report = { ...(filled(others, text, false) as BacktestReport), tape, models: named };
        const page = reportPage(report, PARTS);
        expect(bare(page)).not.toContain(text.replace(/[\s]+/g, ' '));
        expect(tags(page).filter(tag => !plain.includes(tag))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  test('may send nothing, and point to nothing else', () => {
    const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(reportPage(whole(traded), PARTS))!;
    expect(policy).toContain("default-src 'none'; base-uri 'none'; form-action 'none'; ");
  });
});

describe('a template of markup', () => {
  test('escapes whatever is put into it, in an element and in an attribute, and leaves markup that was made so', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        const made = textOfHtml(html`<p title="${text}">${[html`<b>${text}</b>`]}</p>`);
        const [, title, inside] = /^<p title="([^"]*)"><b>([^<]*)<\/b><\/p>$/s.exec(made)!;
        const shown = (escaped: string) =>
          escaped
            .replaceAll('&lt;', '<')
            .replaceAll('&gt;', '>')
            .replaceAll('&quot;', '"')
            .replaceAll('&#39;', "'")
            .replaceAll('&amp;', '&');
        expect([shown(title!), shown(inside!)]).toEqual([text, text]);
      }),
    );
  });
});
