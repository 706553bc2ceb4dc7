/** What the pages print: every shell command, every piece of YAML and every screen that is shown, with its place; found by rule, so that a new one cannot be missed. */

/** As printed. `session` names the block that it stands in, or the page. */
export type Command = {
  readonly page: string;
  readonly line: number;
  readonly session: string;
  readonly text: string;
};

export type Block = { readonly page: string; readonly line: number; readonly text: string };

export type Found = {
  readonly commands: readonly Command[];
  readonly yaml: readonly Block[];
  /** Blocks that are neither: what a screen shows, formulas, JSON, SQL. */
  readonly others: readonly Block[];
};

/** What a person types begins with one of these; a word alone is a name, not a command. */
const TYPED =
  /^(?:[A-Z_]+=\S+ )*(?:(?:npx|npm|node|puntas|docker|curl|jq|df|du|chown|chmod|timedatectl|export|cp|sed|git)\s+\S|\.ci\/\w)/;
const SHELL = ['sh', 'bash', 'shell', 'console'];
/** A flow mapping in running text, like `state: { dir: /state }`. */
const FLOW = /^\w+: \{.*\}$/;
const INLINE = /(?<!`)`((?:[^`\n]|\n(?!\s*\n))+)`(?!`)/g;
const FENCE = /^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```/gm;

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length;
/** A comment of the shell. */
const bare = (line: string): string => line.replace(/(^|\s)#\s.*$/, '').trim();

function ofBlock(page: string, line: number, text: string): Command[] {
  return text
    .replace(/\s*\\\n\s*/g, ' ')
    .split('\n')
    .map(bare)
    .filter(one => one !== '')
    .map(one => ({ page, line, session: `${page}:${line}`, text: one }));
}

/** A flag that the command has already is given anew. */
const withFlag = (command: string, flag: string): string =>
  `${command.replace(new RegExp(` ${flag.split(' ')[0]}(?: [^-]\\S*)?(?= |$)`), '')} ${flag}`;

/** Flags that stand beside a command, in its row of a table or in its comment: tried with it, each. */
function besides(page: string, text: string, from: number): Command[] {
  return text.split('\n').flatMap((row, i) => {
    const inTable = /^\| (`[^|]*`[^|]*) \|(.*)\|$/.exec(row);
    const inBlock = /^((?:npx )?puntas .*?)\s# (.*)$/.exec(row.trim());
    const command = inTable ? /`([^`]+)`/.exec(inTable[1]!)?.[1] : inBlock?.[1]?.trim();
    if (command === undefined || !TYPED.test(command)) return [];
    const flags = inTable
      ? [...row.matchAll(/`(--[^`]+)`/g)].map(([, flag]) => flag!)
      : [...inBlock![2]!.matchAll(/(?<!without )--[a-z][\w-]*(?: [\d.][^\s,;]*)?/g)].map(([flag]) => flag);
    return flags
      .filter(flag => !command.includes(`${flag} `))
      .map(flag => ({ page, line: from + i, session: page, text: withFlag(command, flag) }));
  });
}

export function foundOn(page: string, text: string): Found {
  const commands: Command[] = [];
  const yaml: Block[] = [];
  const others: Block[] = [];
  const prose = text.replace(FENCE, (whole, _indent, language: string, body: string, index: number) => {
    const line = lineAt(text, index);
    if (language === 'yaml') yaml.push({ page, line, text: body });
    else if (SHELL.includes(language) || (language === '' && body.split('\n').some(one => TYPED.test(bare(one))))) {
      commands.push(...ofBlock(page, line, body));
      commands.push(...besides(page, body, line + 1));
    } else others.push({ page, line, text: body });
    return whole.replace(/[^\n]/g, ' ');
  });
  for (const match of prose.matchAll(INLINE)) {
    const line = lineAt(prose, match.index);
    const code = match[1]!.replace(/\s+/g, ' ').replaceAll('\\|', '|').trim();
    if (TYPED.test(code)) commands.push({ page, line, session: page, text: code });
    else if (FLOW.test(code)) yaml.push({ page, line, text: code });
  }
  commands.push(...besides(page, prose, 1));
  return { commands, yaml, others };
}

/** Commands in the comments of a configuration that ships. */
export function foundInComments(page: string, text: string): Found {
  const commands = text.split('\n').flatMap((row, i): Command[] => {
    const comment = /(?:^|\s)#(.*)$/.exec(row)?.[1];
    const command = comment && /(?:^|[\s`:])((?:npx puntas|puntas|npm run) [a-z].*)$/.exec(comment)?.[1];
    if (!command) return [];
    const [one = ''] = command.split(/\s{2,}|`|, |\.$/);
    return [{ page, line: i + 1, session: page, text: one.trim() }];
  });
  return { commands, yaml: [], others: [] };
}

export const merged = (all: readonly Found[]): Found => ({
  commands: all.flatMap(({ commands }) => commands),
  yaml: all.flatMap(({ yaml }) => yaml),
  others: all.flatMap(({ others }) => others),
});
