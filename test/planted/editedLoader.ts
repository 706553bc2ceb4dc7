/** Hook of Node's module loader that editedFile.ts registers. */
import { readFileSync } from 'node:fs';
import type { InitializeHook, LoadHook } from 'node:module';

let edited: { readonly url: string; readonly code: string };

export const initialize: InitializeHook<typeof edited> = data => {
  edited = data;
};

export const load: LoadHook = (url, context, next) =>
  url === edited.url ? { format: 'module', source: readFileSync(edited.code), shortCircuit: true } : next(url, context);
