import { describe, expect, test } from 'vitest';
import { readSecrets } from '../../src/config.ts';

const files: Record<string, string> = {
  '/run/key': 'filekey\n',
  '/run/secret': '  filesecret  \r\n',
  '/run/empty': '\n',
};
const readFile = (path: string): string => {
  const text = files[path];
  if (text === undefined) throw Object.assign(new Error('no such file, open'), { code: 'ENOENT' });
  return text;
};
const read = (env: Record<string, string>) => readSecrets(env, readFile, text => ({ reveal: () => text }));

describe('secrets', () => {
  test('come from the environment', () => {
    const result = read({ PUNTAS_API_KEY: ' k1 ', PUNTAS_API_SECRET: 's1\n' });
    expect(result.ok && [result.secrets.apiKey, result.secrets.apiSecret.reveal()]).toEqual(['k1', 's1']);
  });

  test('of the other exchange have names of their own', () => {
    const env = { PUNTAS_API_KEY: 'here', PUNTAS_ELSEWHERE_API_KEY: 'there', PUNTAS_ELSEWHERE_API_SECRET: 's' };
    const result = readSecrets(env, readFile, text => text, 'PUNTAS_ELSEWHERE');
    expect(result).toEqual({ ok: true, secrets: { apiKey: 'there', apiSecret: 's' } });
    expect(readSecrets({ PUNTAS_API_KEY: 'here' }, readFile, text => text, 'PUNTAS_ELSEWHERE')).toMatchObject({
      errors: [
        expect.stringContaining('PUNTAS_ELSEWHERE_API_KEY is not set'),
        expect.stringContaining('PUNTAS_ELSEWHERE_API_SECRET is not set'),
      ],
    });
  });

  test('or from the files that the environment names, white space trimmed', () => {
    const result = read({ PUNTAS_API_KEY_FILE: '/run/key', PUNTAS_API_SECRET_FILE: '/run/secret' });
    expect(result.ok && [result.secrets.apiKey, result.secrets.apiSecret.reveal()]).toEqual(['filekey', 'filesecret']);
  });

  test.each([
    [{}, ['PUNTAS_API_KEY is not set', 'PUNTAS_API_SECRET is not set']],
    [
      { PUNTAS_API_KEY: 'a', PUNTAS_API_KEY_FILE: '/run/key', PUNTAS_API_SECRET: 's' },
      ['PUNTAS_API_KEY and PUNTAS_API_KEY_FILE are both set'],
    ],
    [
      { PUNTAS_API_KEY_FILE: '/nowhere', PUNTAS_API_SECRET: 's' },
      ['PUNTAS_API_KEY_FILE: cannot read "/nowhere": ENOENT'],
    ],
    [{ PUNTAS_API_KEY: '', PUNTAS_API_SECRET: 's' }, ['PUNTAS_API_KEY is empty']],
    [{ PUNTAS_API_KEY: 'k', PUNTAS_API_SECRET_FILE: '/run/empty' }, ['PUNTAS_API_SECRET_FILE (/run/empty) is empty']],
    [{ PUNTAS_API_KEY: 'two words', PUNTAS_API_SECRET: 's' }, ['PUNTAS_API_KEY contains spaces']],
  ])('%j is refused, each flaw in one line', (env, starts) => {
    const result = read(env);
    expect(result.ok).toBe(false);
    expect(result.ok ? [] : result.errors).toEqual(starts.map(start => expect.stringContaining(start) as string));
  });

  test('are in no error about them', () => {
    const result = read({ PUNTAS_API_KEY: 'canary one', PUNTAS_API_SECRET: 'canary two' });
    expect(JSON.stringify(result)).not.toContain('canary');
  });
});
