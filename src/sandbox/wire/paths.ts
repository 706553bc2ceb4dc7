/** Paths and queries of requests, and the route that matches a method and path. */

type Addressed = { readonly method: string; readonly pattern: string };
type Found<R> = { readonly row: R; readonly path: Readonly<Record<string, string>> };

/**
 * Splits a path into segments. A leading `api`, doubled slashes and a trailing slash are ignored (public-facts 1 and
 * 3).
 */
export function segmentsOf(path: string): string[] {
  const segments = path.split('/').filter(segment => segment !== '');
  if (segments[0] === 'api') segments.shift();
  return segments;
}

/** Parses a query. If a key is repeated, its first value is kept. */
export function queryOf(text: string): Map<string, string> {
  const query = new Map<string, string>();
  for (const [key, value] of new URLSearchParams(text)) if (!query.has(key)) query.set(key, value);
  return query;
}

/** Returns a function that finds the route of a method and path; the first match in the table wins. */
export function matcherOf<R extends Addressed>(
  rows: readonly R[],
): (method: string, segments: readonly string[]) => Found<R> | 'unknown path' | 'unknown method' {
  const table = rows.map(row => ({ row, parts: row.pattern.split('/').filter(part => part !== '') }));
  return (method, segments) => {
    let known = false;
    for (const { row, parts } of table) {
      if (parts.length !== segments.length) continue;
      if (!parts.every((part, i) => part.startsWith(':') || part === segments[i])) continue;
      known = true;
      if (row.method !== method) continue;
      const path: Record<string, string> = {};
      parts.forEach((part, i) => {
        if (part.startsWith(':')) path[part.slice(1)] = decoded(segments[i]!);
      });
      return { row, path };
    }
    return known ? 'unknown method' : 'unknown path';
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
