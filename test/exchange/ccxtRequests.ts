/** Requests of a client beside those of ccxt: each fixture is compared field by field, or named with the reason why not. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { VenueClient, WireRequest } from '../../src/core/index.ts';

/** Returns the fixtures of an exchange; says so and returns `null` where they are missing. */
export function ccxtFixtures<T = RequestFixtures>(exchange: string): T | null {
  const file = join(process.env['PUNTAS_DATA'] ?? '../shared/data', 'ccxt-fixtures', `${exchange}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T;
  console.log(`skipped: no fixtures of ccxt at ${file} (set PUNTAS_DATA)`);
  return null;
}

/** Requests of ccxt's own tests (`static`), with the fields in `output`, and requests that its class sent (`captured`). */
export type RequestFixtures = {
  readonly static: {
    readonly request: {
      readonly cases: readonly { readonly description: string; readonly url: string; readonly output?: string }[];
    };
  };
  readonly captured: {
    readonly cases: readonly {
      readonly method: string;
      readonly request: { readonly method: string; readonly url: string; readonly body?: string };
    }[];
  };
};

type Fields = Readonly<Record<string, string>>;
/** Method, path and fields; the fields are in the query or in the body. */
type Request = { readonly method: string; readonly path: string; readonly fields: Fields };

const fieldsOf = (...parts: readonly (string | undefined)[]): Fields =>
  Object.fromEntries(parts.flatMap(part => [...new URLSearchParams(part)]));

export function requestOf(method: string, target: string, body?: string): Request {
  const { pathname, search } = new URL(target, 'https://exchange.invalid');
  return { method, path: pathname, fields: fieldsOf(search, body) };
}

/** All requests of the fixtures by name: `static` with the description, `captured` with the place and the method of ccxt. */
function theirsOf({ static: { request }, captured }: RequestFixtures): ReadonlyMap<string, Request> {
  return new Map([
    ...request.cases.map(({ description, url, output }): [string, Request] => [
      `static: ${description}`,
      requestOf(output === undefined ? 'GET' : 'POST', url, output),
    ]),
    ...captured.cases.map(({ method, request: { method: verb, url, body } }, i): [string, Request] => [
      `captured ${i}: ${method}`,
      requestOf(verb, url, body),
    ]),
  ]);
}

/** Call that makes the request, and the fields that differ, each with the value that the client sends; `null`: none. */
export type Compared = {
  readonly call: (client: VenueClient) => Promise<unknown>;
  readonly differs: Readonly<Record<string, string | RegExp | null>>;
};

export type RequestComparison = {
  readonly fixtures: RequestFixtures | null;
  readonly sentBy: (call: Compared['call']) => Promise<WireRequest>;
  /** Reasons of the differences by the last part of the path and the field, such as `order price`; `*`: any path. */
  readonly reasons: Readonly<Record<string, string>>;
  /** Every request of the fixtures by name: compared, or the reason why it is not. */
  readonly table: Readonly<Record<string, Compared | string>>;
};

/** Registers the tests. */
export function compareRequests({ fixtures, sentBy, reasons, table }: RequestComparison): void {
  const theirs = fixtures === null ? new Map<string, Request>() : theirsOf(fixtures);
  const compared = Object.entries(table).flatMap(([name, row]) => (typeof row === 'string' ? [] : [{ name, ...row }]));
  const reasonOf = (path: string, field: string): string | undefined =>
    [`${path.split('/').at(-1)} ${field}`, `* ${field}`].find(key => key in reasons);

  describe.skipIf(fixtures === null)('requests beside those of ccxt', () => {
    test('each one of the fixtures is compared, or is named with its reason', () => {
      expect(Object.keys(table).sort()).toEqual([...theirs.keys()].sort());
      for (const row of Object.values(table)) if (typeof row === 'string') expect(row.length).toBeGreaterThan(15);
    });

    test.each(compared)('$name: only the listed fields differ, and all of them do', async ({ name, call, differs }) => {
      const { method, target, body } = await sentBy(call);
      const [ours, expected] = [requestOf(method, target, body), theirs.get(name)!];
      expect([ours.method, ours.path]).toEqual([expected.method, expected.path]);
      const fields = [...new Set([...Object.keys(ours.fields), ...Object.keys(expected.fields)])];
      const different = fields.filter(field => ours.fields[field] !== expected.fields[field]);
      expect(different.sort()).toEqual(Object.keys(differs).sort());
      for (const [field, value] of Object.entries(differs)) {
        if (value instanceof RegExp) expect(ours.fields[field]).toMatch(value);
        else expect(ours.fields[field] ?? null, field).toBe(value);
        expect(reasonOf(ours.path, field), `reason of ${field}`).toBeDefined();
      }
    });

    test('each reason is that of a difference', () => {
      const used = compared.flatMap(({ name, differs }) =>
        Object.keys(differs).map(field => reasonOf(theirs.get(name)!.path, field)),
      );
      expect(Object.keys(reasons).filter(reason => !used.includes(reason))).toEqual([]);
    });
  });
}
