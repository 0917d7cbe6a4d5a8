/** Whether what plugins declare can work at all: names that plans can store, types that a catalog can have. */
import { presetError } from "../kernel/errors.ts";
import { nearestNames } from "../kernel/near-names.ts";
import type { Logger } from "../kernel/options.ts";
import { KEBAB_CASE } from "../kernel/preset.ts";
import type { Plugin } from "../plugin.ts";
import type { Model } from "./model/model.ts";

/** What `types` may name beside types. */
const GROUPS: ReadonlySet<string> = new Set(["any", "array", "enum", "range", "composite"]);

/** An identifier of PostgreSQL has no more. */
const MAX_NAME_BYTES = 63;

/** Names of SQL's grammar, and those of the catalog for the same types. */
const CATALOG_NAMES: ReadonlyMap<string, string> = new Map([
  ["smallint", "int2"],
  ["integer", "int4"],
  ["int", "int4"],
  ["bigint", "int8"],
  ["real", "float4"],
  ["float", "float8"],
  ["double precision", "float8"],
  ["decimal", "numeric"],
  ["boolean", "bool"],
  ["character", "bpchar"],
  ["character varying", "varchar"],
  ["bit varying", "varbit"],
  ["time without time zone", "time"],
  ["time with time zone", "timetz"],
  ["timestamp without time zone", "timestamp"],
  ["timestamp with time zone", "timestamptz"],
]);

interface Typed {
  readonly types: readonly string[];
  readonly exceptTypes?: readonly string[];
  readonly operandType?: string;
}

/** All places of a declaration where a type stands. */
const typesOf = ({ types, exceptTypes = [], operandType }: Typed): readonly string[] => [
  ...types,
  ...exceptTypes,
  ...(operandType === undefined ? [] : [operandType]),
];

/** @throws RelApiError `preset` @rule X-START-4 X-START-5 */
export const refuseImpossible = (plugins: readonly Plugin[]): void => {
  for (const plugin of plugins) {
    for (const spec of plugin.operators ?? []) {
      refuseName(plugin.name, "operator", spec.name);
      refuseTypes(`plugin "${plugin.name}": operator "${spec.name}"`, spec);
    }
    for (const spec of plugin.updateOperators ?? []) {
      refuseName(plugin.name, "update operator", spec.name);
      refuseTypes(`plugin "${plugin.name}": update operator "${spec.name}"`, spec);
    }
  }
};

const refuseName = (plugin: string, what: string, name: string): void => {
  if (!KEBAB_CASE.test(name))
    throw presetError(
      `plugin "${plugin}": ${what} "${name}" is not kebab-case: use lower-case letters, digits and single dashes, and the surfaces' names for others`,
    );
};

const refuseTypes = (what: string, spec: Typed): void => {
  for (const type of typesOf(spec)) {
    const catalogName = catalogNameOf(type);
    if (catalogName === type) continue;
    const remedy = catalogName === undefined ? 'write the name in pg_type, such as "int4"' : `write "${catalogName}"`;
    throw presetError(`${what} is for the type "${type}", which is not a type name of the catalog: ${remedy}`);
  }
};

/** The name itself where it may be one of the catalog; else what was meant, where that can be told: `_int4` for
 *  `integer[]`, `numeric` for `decimal(10,2)`. */
const catalogNameOf = (type: string): string | undefined => {
  const [, element, modifier, brackets] = /^([^[(]*)(\([\d, ]*\))?((?:\[\d*\])*)$/.exec(type) ?? [];
  if (brackets !== undefined && brackets !== "") {
    const inner = catalogNameOf(`${element}${modifier ?? ""}`);
    return inner === undefined ? undefined : `_${inner}`;
  }
  const plain = (element ?? "").replace(/^pg_catalog\./, "").toLowerCase();
  const known = CATALOG_NAMES.get(plain);
  if (known !== undefined) return known;
  if (modifier !== undefined || plain !== element?.toLowerCase()) return isTypeName(plain) ? plain : undefined;
  return isTypeName(type) ? type : undefined;
};

const isTypeName = (name: string): boolean =>
  name !== "" && !/[\s.()[\]"]/.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES;

/** Tells of types that the model does not have: once each, since a model is loaded again and again.
 *  @rule X-START-6 */
export const createTypeCheck = (plugins: readonly Plugin[], logger: Logger): ((model: Model) => void) => {
  const told = new Set<string>();
  return (model) => {
    const names = new Set(Array.from(model.types.values(), (type) => type.name));
    for (const { name: plugin, operators = [], updateOperators = [], extensionTypes = [] } of plugins) {
      for (const spec of [...operators, ...updateOperators]) {
        for (const type of typesOf(spec)) {
          const key = `${plugin} ${spec.name} ${type}`;
          if (names.has(type) || GROUPS.has(type) || extensionTypes.includes(type) || told.has(key)) continue;
          told.add(key);
          const near = nearestNames(type, names);
          logger.warn("an operator is for a type that the database does not have", {
            plugin,
            operator: spec.name,
            type,
            ...(near.length === 0 ? {} : { near }),
          });
        }
      }
    }
  };
};
