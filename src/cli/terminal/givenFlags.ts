/** Checks that no flag is ignored in silence: flags that were given twice, and flags that have no effect beside others. */
import type { Command, Option } from 'commander';
import { UsageError } from '../../wiring/usageError.ts';

/**
 * Whether only one value of an option counts. The parser of a repeatable option also receives the previous values, so
 * all of them count. An option without a value has no second value that could be lost.
 */
const keepsOne = ({ required, optional, variadic, argChoices, parseArg }: Option): boolean =>
  (required || optional) && !variadic && (argChoices !== undefined || (parseArg?.length ?? 0) < 2);

/** Ends the program with an error if an option of the command, or of a command below it, is given two values. */
export function refuseRepeated(command: Command): void {
  for (const option of command.options.filter(keepsOne)) {
    let given: string | null | undefined;
    command.on(`option:${option.name()}`, (value: string | null) => {
      if (given !== undefined)
        command.error(`option '${option.flags}' is given twice (${given ?? ''}, ${value ?? ''}); give it once`);
      given = value;
    });
  }
  for (const below of command.commands) refuseRepeated(below);
}

/**
 * Refuses flags that have no effect beside the other flags or with the given configuration. `names`: keys of the flags
 * in commander's object of options, like `hedgeFee`. `why`: end of the error message, after the flags.
 * @throws UsageError if one of the flags was given on the command line.
 */
export function refuseGiven(command: Command, names: readonly string[], why: string): void {
  const flags = names
    .map(name => ({ name, flag: flagNamed(name, command) }))
    .flatMap(({ name, flag }) => (command.getOptionValueSourceWithGlobals(name) === 'cli' ? [flag] : []));
  if (flags.length > 0) throw new UsageError(`${flags.join(', ')}: ${why}`);
}

function flagNamed(name: string, command: Command | null): string {
  if (command === null) throw new RangeError(`${name}: expected the name of an option of the command or its parents`);
  const option = command.options.find(each => each.attributeName() === name);
  return option?.long ?? flagNamed(name, command.parent);
}
