/** A store as S3 has it, of somebody else's make, which checks signatures: in this process, on a free port. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type S3rver = { run(): Promise<AddressInfo>; close(): Promise<void> };
type S3rverClass = new (options: object) => S3rver;

export type ObjectStore = {
  /** What a program needs in its environment to use it. */
  readonly env: Readonly<Record<string, string>>;
  /** Where it keeps its objects, by bucket. */
  readonly dir: string;
  stop(): Promise<void>;
};

/** With a bucket called tapes. */
export async function objectStore(): Promise<ObjectStore> {
  const Store = createRequire(import.meta.url)('@20minutes/s3rver') as S3rverClass;
  const dir = mkdtempSync(join(tmpdir(), 'puntas-s3-'));
  const server = new Store({
    ...{ port: 0, address: '127.0.0.1', silent: true, directory: dir },
    configureBuckets: [{ name: 'tapes', configs: [] }],
  });
  const { port } = await server.run();
  return {
    dir,
    env: {
      AWS_ACCESS_KEY_ID: 'S3RVER',
      AWS_SECRET_ACCESS_KEY: 'S3RVER',
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    },
    stop: async () => {
      await server.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
