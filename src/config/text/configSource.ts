/** Source file of a configuration, so that later errors can name the line. */
import type { Config } from '../schema.ts';
import { readYaml } from './yamlText.ts';
import { pathInFile, withCurrentKeys } from '../renamedKeys.ts';

/** Symbol under which a configuration holds its source. Copies keep a symbol; JSON omits it. */
const SOURCE = Symbol('file of the configuration');

type Source = { readonly path: string; readonly text: string };

/** Returns the configuration with the file and text that it was read from. */
export const withSource = (config: Config, path: string, text: string): Config =>
  Object.assign({}, config, { [SOURCE]: { path, text } satisfies Source });

/** Returns `file:line:column key` of a key, or only `key` for a configuration without a file. */
export function placeOf(config: Config, path: readonly PropertyKey[]): string {
  const key = path.map(String).join('.');
  const source = (config as Config & { readonly [SOURCE]?: Source })[SOURCE];
  const read = source && readYaml(source.text, source.path, '');
  if (!read?.ok) return key;
  const { taken } = withCurrentKeys(read.value);
  return `${read.place(read.offset({ path: pathInFile(path, taken) }))} ${key}`;
}

/** Returns the path of the first key whose value is this text, or `null` if none. */
export function pathOfText(value: unknown, text: string, path: readonly string[] = []): readonly string[] | null {
  if (value === text) return path;
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, inner] of Object.entries(value)) {
    const found = pathOfText(inner, text, [...path, key]);
    if (found !== null) return found;
  }
  return null;
}

/** Returns the path of a key as written in the file, which can use an old name. `text` is a valid configuration. */
export function yamlPathOf(text: string, path: readonly string[]): readonly string[] {
  const read = readYaml(text, '', '');
  return read.ok ? pathInFile(path, withCurrentKeys(read.value).taken).map(String) : path;
}
