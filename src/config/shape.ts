/** Keys of the schema at a path, from zod's own definition. */
import { z } from 'zod';

type Path = readonly PropertyKey[];

/** Returns the schema at a path; `null` if none. `value`, the root value, selects the member of a union. */
export function schemaAt(root: z.core.$ZodType, value: unknown, path: Path): z.core.$ZodType | null {
  let schema: z.core.$ZodType | null = choose(root, value);
  let here = value;
  for (const step of path) {
    here = isRecord(here) ? here[String(step)] : undefined;
    if (schema instanceof z.ZodObject)
      schema = (schema.shape as Readonly<Record<string, z.core.$ZodType>>)[String(step)] ?? null;
    else if (schema instanceof z.ZodRecord) schema = schema.valueType;
    else if (schema instanceof z.ZodArray) schema = schema.element;
    else return null;
    schema = schema && choose(schema, here);
  }
  return schema;
}

/** Returns the keys of an object schema that a file can have; empty for other schemas. */
export const keysOf = (schema: z.core.$ZodType | null): readonly string[] =>
  schema instanceof z.ZodObject
    ? Object.entries(schema.shape as Readonly<Record<string, z.core.$ZodType>>).flatMap(([key, member]) =>
        isAddedByReader(member) ? [] : [key],
      )
    : [];

const isAddedByReader = (member: z.core.$ZodType): boolean =>
  z.globalRegistry.get(member)?.['isAddedByReader'] === true;

/** Returns the keys of an object schema that must be present; all keys if none must. */
export function requiredKeysOf(schema: z.core.$ZodType | null): readonly string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema.shape;
  const members = Object.entries(shape).filter(([, member]) => !isAddedByReader(member));
  const required = members.filter(([, member]) => unwrap(member) === member);
  return (required.length > 0 ? required : members).map(([key]) => key);
}

/** Returns every path with a key of this name, as dotted text. */
export function pathsOfKey(schema: z.core.$ZodType, key: string, prefix = ''): readonly string[] {
  const bare = unwrap(schema);
  if (bare instanceof z.ZodUnion) return [...new Set(bare.options.flatMap(option => pathsOfKey(option, key, prefix)))];
  if (!(bare instanceof z.ZodObject)) return [];
  return Object.entries(bare.shape as Readonly<Record<string, z.core.$ZodType>>).flatMap(([name, member]) => [
    ...(name === key && !isAddedByReader(member) ? [`${prefix}${name}`] : []),
    ...pathsOfKey(member, key, `${prefix}${name}.`),
  ]);
}

/** Returns the schema without default, prefault and optional wrappers. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional
    ? unwrap(schema.unwrap())
    : schema;
}

function choose(schema: z.core.$ZodType, value: unknown): z.core.$ZodType {
  const bare = unwrap(schema);
  if (!(bare instanceof z.ZodDiscriminatedUnion)) return bare;
  const key = bare.def.discriminator;
  const found = isRecord(value) ? value[key] : undefined;
  const member = bare.options.find(
    option =>
      option instanceof z.ZodObject && (option.shape as Record<string, z.ZodType>)[key]?.safeParse(found).success,
  );
  return member ?? bare;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
