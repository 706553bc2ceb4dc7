/** Changes of single keys: each key has a rule, limits are only tightened, and the rest of a file stays as it is. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  changedYaml,
  configChanges,
  configSchema,
  loadConfig,
  parameterRefusal,
  listedParameters,
  parameterText,
  PARAMETER_DIRECTIONS,
  typedParameter,
} from '../../src/config.ts';
import { takesEffectIn } from '../../src/config/sections/takesEffect.ts';
import { decimalTextOf } from '../../src/config/plainNumber.ts';
import { shippedConfig } from '../../src/wiring/configFile.ts';

type Node = {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly oneOf?: readonly Node[];
  readonly anyOf?: readonly Node[];
};

/** Returns the paths of all values in the schema. */
function leaves(node: Node, path: readonly string[] = []): readonly string[] {
  const members = [...(node.oneOf ?? []), ...(node.anyOf ?? [])];
  const inner = members.flatMap(each => leaves(each, path));
  if (node.properties === undefined) return members.length > 0 ? inner : [path.join('.')];
  return [...inner, ...Object.entries(node.properties).flatMap(([key, each]) => leaves(each, [...path, key]))];
}
const ALL = [...new Set(leaves(z.toJSONSchema(configSchema, { io: 'input' }) as Node))];
const effectOf = takesEffectIn(configSchema);

const FOLDER = dirname(shippedConfig('sandbox'));
const FILES = readdirSync(FOLDER)
  .filter(name => name.endsWith('.yaml'))
  .map(name => ({ name, text: readFileSync(join(FOLDER, name), 'utf8') }))
  .flatMap(({ name, text }) => {
    const loaded = loadConfig(text, name);
    // Places of the keys of several books have tests of their own.
    return loaded.ok && loaded.config.books === undefined ? [{ name, text, config: loaded.config }] : [];
  });

describe('the rules of keys', () => {
  test('are for keys of the schema that a reload applies, and for no other', () => {
    expect(FILES.length).toBeGreaterThan(5);
    for (const key of Object.keys(PARAMETER_DIRECTIONS)) {
      expect(ALL, key).toContain(key);
      expect(['reload', 'live'], key).toContain(effectOf(key.split('.')));
    }
  });

  test('let no limit of the schema be loosened, removed, or changed without a direction', () => {
    const limits = ALL.filter(
      key => /^(?:limits|halts)\./.test(key) || /(?:Max|Min|staleAfterMs|maxAgeMs|maxDivergenceBps)$/.test(key),
    );
    expect(limits.length).toBeGreaterThan(25);
    const directed = ['fairValue.withinBps', 'strategy.lowPrice', 'strategy.highPrice', 'hedge.band'];
    for (const key of directed) expect(PARAMETER_DIRECTIONS[key], key).toMatch(/^(?:lower|higher)$/);
    for (const key of limits) expect(PARAMETER_DIRECTIONS[key], key).not.toBe('free');
    for (const { config, name } of FILES)
      for (const { key, value, direction } of listedParameters(config)) {
        if (direction === 'free') continue;
        expect(parameterRefusal(config, key, null), `${name} ${key}`).toMatch(/not remove it/);
        if (value === null) {
          if (key === 'hedge.band') expect(parameterRefusal(config, key, '1'), name).toMatch(/is computed/);
          continue;
        }
        const looser = direction === 'lower' ? `${BigInt(value.split('.')[0]!) + 1n}` : '-1';
        expect(parameterRefusal(config, key, looser), `${name} ${key}`).toMatch(/can only tighten a limit/);
        expect(parameterRefusal(config, key, value), `${name} ${key}`).toMatch(/can only tighten a limit/);
        for (const odd of ['1e3', 'NaN', '', ' 1', '0x1', 'Infinity'])
          expect(parameterRefusal(config, key, odd), `${name} ${key} ${odd}`).toMatch(/expected a number/);
      }
  });

  test('let a limit be tightened in exact steps, beyond what a float shows', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 18n), fc.bigInt(0n, 10n ** 18n), (now, then) => {
        const text = (of: bigint) => `${of / 10n ** 8n}.${(of % 10n ** 8n).toString().padStart(8, '0')}`;
        const { config } = FILES.find(({ name }) => name === 'sandbox.yaml')!;
        const set = { ...config, limits: { ...config.limits, drawdownMax: text(now) } };
        expect(parameterRefusal(set, 'limits.drawdownMax', text(then)) === null).toBe(then < now);
      }),
    );
  });

  test.each([
    'exchange.kind',
    'book',
    'state.dir',
    'inventory.target',
    '__proto__',
    'limits',
    'toString',
    // A lower value is not always tighter.
    'pull.leader.maxAgeMs',
    'reference.basis.errorMaxBps',
    'rfqReference.staleAfterMs',
    'hedge.elsewhere.failuresMax',
    'limits.priceMove.windowMs',
  ])('refuse a key without a rule, %s', key => {
    for (const { config } of FILES) expect(parameterRefusal(config, key, '1')).toMatch(/cannot be changed from a page/);
  });

  test('show each parameter with its help, and type a value as the schema does', () => {
    const { config } = FILES.find(({ name }) => name === 'sandbox.yaml')!;
    const shown = listedParameters(config);
    for (const { key, help } of shown) expect(help, key).not.toBe('');
    expect(shown.find(({ key }) => key === 'strategy.halfSpreadBps')).toMatchObject({
      value: '16',
      unit: 'bps',
      direction: 'free',
    });
    expect(typedParameter(config, 'strategy.halfSpreadBps', '13')).toBe(13);
    expect(typedParameter(config, 'limits.drawdownMax', '13')).toBe('13');
  });

  test('compare plain decimal numbers, and nothing else', () => {
    expect([decimalTextOf('0.10') === decimalTextOf('0.1'), decimalTextOf('-1')! < decimalTextOf('0')!]).toEqual([
      true,
      true,
    ]);
    expect(['1.', '.5', '+1', '1,5', '١'].map(decimalTextOf)).toEqual([null, null, null, null, null]);
  });
});

const commentsOf = (text: string): readonly string[] =>
  text.split('\n').flatMap(line => /(?:^|\s)#.*$/.exec(line)?.[0].trim() ?? []);

describe('a changed file', () => {
  test('differs in its key alone, keeps each comment and each other line, and is itself again after the inverse change', () => {
    const cases = FILES.flatMap(file => listedParameters(file.config).map(parameter => ({ ...file, ...parameter })));
    fc.assert(
      fc.property(
        fc.constantFrom(...cases),
        fc.integer({ min: 1, max: 400 }),
        fc.nat(3),
        ({ text, config, key, value, name }, n, places) => {
          const to =
            value === 'true'
              ? 'false'
              : value === 'false'
                ? 'true'
                : places === 0
                  ? String(n)
                  : (n / 1000).toFixed(places);
          const path = key.split('.');
          const changed = changedYaml(text, path, typedParameter(config, key, to));
          if (!changed.ok) {
            expect(changed.problem, `${name} ${key}`).toMatch(/section|not written on one line|value is/);
            return;
          }
          expect(commentsOf(changed.text)).toEqual(commentsOf(text));
          const loaded = loadConfig(changed.text, name);
          if (loaded.ok) {
            const isSame = parameterText(loaded.config, key) === value;
            expect(configChanges(config, loaded.config).map(each => each.key)).toEqual(isSame ? [] : [key]);
            const back = changedYaml(changed.text, path, value === null ? null : typedParameter(config, key, value));
            if (back.ok) {
              const again = loadConfig(back.text, name);
              expect(again.ok && configChanges(config, again.config), `${name} ${key}`).toEqual([]);
            }
          }
          const [was, is] = [text.split('\n'), changed.text.split('\n')];
          expect(was.filter(line => !is.includes(line)).length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 300 },
    );
  });

  const refusedAs = (text: string, path: string, value: string | number | null = 2): string => {
    const changed = changedYaml(text, path.split('.'), value);
    return changed.ok ? `changed to ${changed.text}` : changed.problem;
  };
  test.each([
    ['a: 1\n---\nb: 2\n', 'a', /several YAML documents/],
    ['a: &x 1\nb: *x\n', 'a', /anchor x/],
    ['a: &x 1\nb: *x\n', 'b', /alias/],
    ['a: &x {c: 1}\nb: *x\n', 'b.c', /alias/],
    ['a: [1]\n', 'a', /section or a list/],
    ['a:\n', 'a', /not written on one line/],
    ['a: |\n  x\n', 'a', /not written on one line/],
    ['a: 1\nb: {}\n', 'b.c', /empty/],
    ['a: 1\n...\n', 'b.c', /cannot be added/],
  ])('is refused by name where something would be lost: %j', (text, path, problem) => {
    expect(refusedAs(text, path)).toMatch(problem);
  });

  test('loses no key, and a removal neither a comment nor a section', () => {
    expect(refusedAs('a: 1 # why\nb: 2\n', 'a', null)).toMatch(/comment/);
    expect(refusedAs('a:\n  b: 1\n', 'a.b', null)).toMatch(/only key of its section/);
    expect(changedYaml('a: 1\nb: 2\n# end\n', ['a'], null)).toEqual({ ok: true, text: 'b: 2\n# end\n' });
    expect(changedYaml("a: '1' # x\r\n", ['a'], '2')).toEqual({ ok: true, text: "a: '2' # x\r\n" });
    expect(changedYaml('a: 1\nb: {c: 1}\n', ['b', 'd'], 2)).toEqual({ ok: true, text: 'a: 1\nb: {d: 2, c: 1}\n' });
    expect(changedYaml('# top\na:\n  # in\n  b: 1\n', ['a', 'c'], 2)).toEqual({
      ok: true,
      text: '# top\na:\n  # in\n  c: 2\n  b: 1\n',
    });
    expect(changedYaml('a: 1', ['b', 'c'], 0.0000001)).toEqual({ ok: true, text: 'a: 1\nb:\n  c: 0.0000001\n' });
  });

  test.each([
    ['a: 1\n', 'b.c.d', 'a: 1\nb:\n  c:\n    d: 2\n'],
    ['a:\n   # in\n   b: 1 # one\n', 'a.c.d', 'a:\n   # in\n   c:\n     d: 2\n   b: 1 # one\n'],
    ['a:\r\n  b: 1\r\n', 'a.c.d.e', 'a:\r\n  c:\r\n    d:\r\n      e: 2\r\n  b: 1\r\n'],
    ['a: {b: 1}\n', 'a.c.d.e', 'a: {c: { d: { e: 2 } }, b: 1}\n'],
  ])('adds the missing sections of a key: %j, %s', (text, path, changed) => {
    const added = changedYaml(text, path.split('.'), 2);
    expect(added).toEqual({ ok: true, text: changed });
  });
});
