import { format, resolveConfig } from 'prettier';
import { describe, expect, test } from 'vitest';
import { coverage, interfaceReference, strangers } from './pages/interfaceReference.ts';
import { testsIn } from './testTitles.ts';

const rows = coverage();
const nameOf = ({ group, row }: (typeof rows)[number]) => `${group.doc} ${group.section} ${row.kind} ${row.name}`;

describe('a row of the interface documents', () => {
  test('has a test that names it', () => {
    expect(rows.filter(({ tests }) => tests.length === 0).map(nameOf)).toEqual([]);
    expect(rows.length).toBeGreaterThan(300);
  });

  test('has a client method and a handler that exist, or a reason for having none', async () => {
    const wrong: string[] = [];
    for (const row of rows) {
      for (const stranger of await strangers(row)) wrong.push(`${nameOf(row)}: ${stranger}`);
      for (const places of [row.client, row.handler])
        if ('none' in places ? places.none === '' : places.length === 0) wrong.push(`${nameOf(row)}: nowhere`);
    }
    expect(wrong).toEqual([]);
  });

  test('is listed once in its section', () => {
    const names = rows.map(nameOf);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
  });

  test('(one that nothing covers or that names what is not there would be found)', async () => {
    const group = {
      doc: 'rest-api',
      section: '4.1',
      title: '',
      client: ['nothing', 'wire.ts nothing'],
      handler: ['GET /v3/nothing'],
      rows: [
        { kind: 'parameter', name: 'limit', says: '' },
        { kind: 'parameter', name: 'limits', says: '' },
      ],
    } as const;
    const tests = testsIn('x', "it('rest-api 4.1 limit', () => {}); it('rest-api 4.10 limits', () => {});");
    const found = coverage(tests, [group]);
    expect(found.map(row => row.tests.length)).toEqual([1, 0]);
    expect(await strangers(found[0]!)).toHaveLength(3);
  });
});

test('docs/development/interface.md lists every row', async () => {
  const options = await resolveConfig(new URL('../../.prettierrc.json', import.meta.url));
  const page = await format(interfaceReference(), { ...options, parser: 'markdown' });
  await expect(page).toMatchFileSnapshot('../../docs/development/interface.md');
});
