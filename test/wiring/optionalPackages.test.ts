import { expect, test } from 'vitest';
import { loadOptional, UsageError } from '../../src/wiring/usageError.ts';

const importOf = (name: string) => (): Promise<unknown> => import(name);

test('a package that is not installed ends a command with the place that needs it and what to type', async () => {
  const loading = loadOptional('redis://queue', importOf('package-that-nobody-publishes'));
  await expect(loading).rejects.toThrow(UsageError);
  await expect(loading).rejects.toThrow(
    'redis://queue: the package package-that-nobody-publishes is not installed; install the optional packages with: npm install --include=optional',
  );
});

test('a package that is installed is loaded, and an error of another kind is passed on as it is', async () => {
  await expect(loadOptional('a bucket', () => import('aws4fetch'))).resolves.toHaveProperty('AwsV4Signer');
  await expect(loadOptional('a bucket', () => Promise.reject(new TypeError('broken')))).rejects.toThrow(TypeError);
  await expect(loadOptional('a bucket', importOf('./missing-file.ts'))).rejects.not.toThrow(UsageError);
});
