/**
 * Replaces one built file as Node loads it, in a process and its threads. Started with --import and a query: `file` is
 * the address of the built file, `code` the path of its other code.
 */
import { register } from 'node:module';

const { searchParams } = new URL(import.meta.url);
register('./editedLoader.js', import.meta.url, {
  data: { url: searchParams.get('file'), code: searchParams.get('code') },
});
