import { describe, expect, test } from 'vitest';
import { DOCUMENT } from '../../src/console/document.ts';
import { STYLE } from '../../src/console/style.ts';

type Colour = readonly [number, number, number, number];

/** The names and colours of each palette: what is set first is light. */
const palettes = [...STYLE.matchAll(/--paper:[^}]*/g)].map(
  ([text]) =>
    new Map([...text.matchAll(/--([a-z]+):(#[0-9a-f]{3,8})/g)].map(([, name, hex]) => [name!, colourOf(hex!)])),
);

function colourOf(hex: string): Colour {
  const digits = hex.length < 6 ? [...hex.slice(1)].map(digit => digit + digit).join('') : hex.slice(1);
  const part = (i: number) => parseInt(digits.slice(2 * i, 2 * i + 2) || 'ff', 16);
  return [part(0), part(1), part(2), part(3)];
}

/** As WCAG 2.2 says it, of colours that hide what is behind them. */
function contrast(one: Colour, other: Colour): number {
  const light = (colour: Colour): number => {
    const [r, g, b] = colour.map(value => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}

/** A colour that is seen through, before another. */
const over = ([r, g, b, a]: Colour, behind: Colour): Colour => {
  const mixed = [r, g, b].map((value, i) => (value * a + behind[i]! * (255 - a)) / 255);
  return [mixed[0]!, mixed[1]!, mixed[2]!, 255];
};

describe.each(['light', 'dark'] as const)('in %s colours', scheme => {
  const of = (name: string): Colour => palettes[scheme === 'light' ? 0 : 1]!.get(name)!;

  test('every text is read on what is behind it: WCAG AA, 4.5 to 1', () => {
    for (const behind of ['panel', 'paper', 'own'])
      for (const text of ['ink', 'soft', 'buy', 'sell', 'good', 'fair', 'bad', 'past'])
        expect(contrast(of(text), of(behind)), `${text} on ${behind}`).toBeGreaterThanOrEqual(4.5);
    for (const bar of ['buyback', 'sellback'])
      for (const behind of ['panel', 'own'])
        expect(contrast(of('ink'), over(of(bar), of(behind))), `ink on ${bar}`).toBeGreaterThanOrEqual(4.5);
  });

  test('every line of a chart, bar and border of a field is told from what is behind it: 3 to 1', () => {
    for (const line of ['buy', 'sell', 'ink', 'soft', 'spread', 'inventory', 'fees', 'fair', 'bad'])
      expect(contrast(of(line), of('panel')), line).toBeGreaterThanOrEqual(3);
  });
});

test('the page names each line of its charts in the line’s own colour', () => {
  const keys = [...DOCUMENT.matchAll(/class="k-([a-z]+)(?: dashed)?"/g)].map(([, name]) => name!);
  expect(keys.length).toBeGreaterThanOrEqual(12);
  for (const key of keys) expect(STYLE).toMatch(new RegExp(`\\.k-${key}\\{color:var\\(--[a-z]+\\)\\}`));
});
