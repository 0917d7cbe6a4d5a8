/** Checks declared parts: plans must be able to store their names, their types must exist in catalogs, and no two parts
 *  may conflict. Core checks the names in plans; each surface checks its own names. */
import { presetError } from "./errors.ts";
import { findClosestNames } from "./did-you-mean.ts";
import type { Logger } from "../settings/options.ts";
import { KEBAB_CASE } from "./preset.ts";
import type { Plugin, Registry } from "../plugin.ts";
import type { Model } from "../model/model.ts";
import type { AcceptedTypes } from "../model/type-groups.ts";

/** The members of a plugin that the registry collects, with the term that messages use for each part. */
export const SPEC_KINDS = {
  operators: "operator",
  embeds: "embedding mode",
  updateOperators: "update operator",
  functions: "function",
  sessions: "session part",
  preferences: "preference",
  statements: "statement",
  aggregates: "aggregate function",
  orderings: "ordering",
  wrappers: "wrapper",
  resultColumns: "result column",
  rowSources: "row source",
} as const satisfies Partial<Record<keyof Plugin, string>>;

/** The parts of all plugins by kind. */
export type Specs = { readonly [Kind in keyof typeof SPEC_KINDS]: NonNullable<Plugin[Kind]> };

type Owners = Pick<Registry, "getPluginName">;

interface SpecWithName {
  readonly name: string;
}
interface SpecWithMode {
  readonly mode: string;
}

export const getSpecName = (spec: SpecWithName | SpecWithMode): string => ("name" in spec ? spec.name : spec.mode);

/** Checks the names and the conflicts of declared parts. @throws RelApiError `preset` @rule X-START-3 X-START-4
 *  X-START-5 */
export const checkSpecs = (specs: Specs, owners: Owners): void => {
  const { getPluginName } = owners;
  for (const kind of ["operators", "updateOperators"] as const)
    for (const spec of specs[kind]) {
      const subject = `plugin "${getPluginName(spec)}": ${SPEC_KINDS[kind]} "${spec.name}"`;
      if (!KEBAB_CASE.test(spec.name))
        throw presetError(
          `${subject} is not kebab-case: use lower-case letters, digits and single dashes, and the surfaces' names for others`,
        );
      rejectUnknownTypes(subject, spec);
    }
  for (const kind of Object.keys(SPEC_KINDS) as (keyof Specs)[]) {
    const kindName = SPEC_KINDS[kind];
    if (kind === "operators" || kind === "updateOperators" || kind === "orderings")
      rejectOverlaps<SpecWithName & AcceptedTypes>(owners, specs[kind], getSpecName, kindName);
    else rejectDuplicates<SpecWithName | SpecWithMode>(owners, specs[kind], getSpecName, kindName);
  }
  rejectDuplicates(owners, specs.sessions, ({ prefix }) => prefix, "prefix of session variables");
  for (const spec of specs.resultColumns)
    if (!/^[a-z][a-z_]*$/.test(spec.name) || RESERVED_COLUMNS.includes(spec.name))
      throw presetError(
        `result column "${spec.name}" of "${getPluginName(spec)}" must consist of lower-case letters and "_", and be none of ${RESERVED_COLUMNS.join(", ")}`,
      );
  for (const spec of specs.preferences)
    if (!TOKEN.test(spec.name))
      throw presetError(
        `preference "${spec.name}" of plugin "${getPluginName(spec)}" cannot be sent: name it with letters, digits and dashes`,
      );
  rejectInvalidNames(owners, specs.orderings, ({ name, operands }) => [name, ...operands.map(getSpecName)], "ordering");
  rejectInvalidNames(owners, specs.aggregates, ({ name }) => [name], "aggregate function");
};

/** The columns that statements return without plugins. */
const RESERVED_COLUMNS = ["body", "check", "count_plan", "inserted", "kept", "location", "page_total", "total"];

/** A token in the syntax of HTTP headers. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Rejects parts of the same name whose types overlap. `getName` returns undefined for a part without this name.
 *  `subject` is the kind of part for the message. @throws RelApiError `preset` @rule X-START-3 */
export const rejectOverlaps = <Spec extends AcceptedTypes>(
  { getPluginName }: Owners,
  parts: Iterable<Spec>,
  getName: (spec: Spec) => string | undefined,
  subject: string,
): void => {
  forEachConflict(parts, getName, (name, earlierSpec, spec) => {
    const type = findSharedType(earlierSpec, spec);
    if (type !== undefined)
      throw presetError(
        `${subject} "${name}" on ${type} is declared by plugins "${getPluginName(earlierSpec)}" and "${getPluginName(spec)}": their types must not overlap`,
      );
  });
};

/** Rejects two parts of the same name. @throws RelApiError `preset` @rule X-START-3 */
export const rejectDuplicates = <Spec extends object>(
  { getPluginName }: Owners,
  parts: Iterable<Spec>,
  getName: (spec: Spec) => string | undefined,
  subject: string,
): void => {
  forEachConflict(parts, getName, (name, earlierSpec, spec) => {
    throw presetError(
      `${subject} "${name}" is declared by plugins "${getPluginName(earlierSpec)}" and "${getPluginName(spec)}": rename one or remove one of the plugins`,
    );
  });
};

/** Calls `onConflict` for each pair of parts with the same name. */
const forEachConflict = <Spec>(
  parts: Iterable<Spec>,
  getName: (spec: Spec) => string | undefined,
  onConflict: (name: string, earlierSpec: Spec, spec: Spec) => void,
): void => {
  const byName = new Map<string, Spec[]>();
  for (const spec of parts) {
    const name = getName(spec);
    if (name === undefined) continue;
    const conflicting = byName.get(name) ?? [];
    for (const earlierSpec of conflicting) onConflict(name, earlierSpec, spec);
    byName.set(name, [...conflicting, spec]);
  }
};

/** Rejects names of aggregate functions and orderings that are not identifiers, because they are parsed inside longer
 *  texts. @throws RelApiError `preset` */
export const rejectInvalidNames = <Spec extends object>(
  { getPluginName }: Owners,
  parts: Iterable<Spec>,
  getNames: (spec: Spec) => readonly (string | undefined)[],
  subject: string,
): void => {
  for (const spec of parts)
    for (const name of getNames(spec))
      if (name !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
        throw presetError(`${subject} "${name}" of "${getPluginName(spec)}" must consist of letters, digits and "_"`);
};

/** Returns a type or group that both parts accept. Messages contain it. */
const findSharedType = (a: AcceptedTypes, b: AcceptedTypes): string | undefined => {
  for (const typeA of a.types) {
    for (const typeB of b.types) {
      const narrow = findTypeOverlap(typeA, typeB);
      if (narrow !== undefined && !isExcepted(a, narrow) && !isExcepted(b, narrow)) return narrow;
    }
  }
  return undefined;
};

/** Returns the overlap of two type names, by their names only: `_int4` is an array, `int4range` a range. */
const findTypeOverlap = (a: string, b: string): string | undefined => {
  if (a === b || isOfGroup(b, a)) return b;
  return isOfGroup(a, b) ? a : undefined;
};

const isOfGroup = (name: string, group: string): boolean =>
  group === "any" ||
  (group === "array" && name.startsWith("_")) ||
  (group === "range" && /^[a-z0-9]+(multi)?range$/.test(name));

const isExcepted = (spec: AcceptedTypes, name: string): boolean =>
  spec.exceptTypes?.some((except) => except === name || isOfGroup(name, except)) === true;

/** The groups that `types` may contain besides types. */
const GROUPS: ReadonlySet<string> = new Set(["any", "array", "enum", "range", "composite"]);

/** The maximum length of an identifier in PostgreSQL. */
const MAX_NAME_BYTES = 63;

/** SQL names of types, with the names of the same types in the catalog. */
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

interface DeclaredTypes extends AcceptedTypes {
  readonly operandType?: string;
}

const listTypes = ({ types, exceptTypes = [], operandType }: DeclaredTypes): readonly string[] => [
  ...types,
  ...exceptTypes,
  ...(operandType === undefined ? [] : [operandType]),
];

const rejectUnknownTypes = (subject: string, spec: DeclaredTypes): void => {
  for (const type of listTypes(spec)) {
    const catalogName = findCatalogName(type);
    if (catalogName === type) continue;
    const remedy = catalogName === undefined ? 'write the name in pg_type, such as "int4"' : `write "${catalogName}"`;
    throw presetError(`${subject} is for the type "${type}", which is not a type name of the catalog: ${remedy}`);
  }
};

/** Returns the name if the catalog may contain it. Otherwise returns the type that was probably meant: `_int4` for
 *  `integer[]`, `numeric` for `decimal(10,2)`. Undefined if the meaning is unclear. */
const findCatalogName = (type: string): string | undefined => {
  const [, element, modifier, brackets] = /^([^[(]*)(\([\d, ]*\))?((?:\[\d*\])*)$/.exec(type) ?? [];
  if (brackets !== undefined && brackets !== "") {
    const inner = findCatalogName(`${element}${modifier ?? ""}`);
    return inner === undefined ? undefined : `_${inner}`;
  }
  const plain = (element ?? "").replace(/^pg_catalog\./, "").toLowerCase();
  const catalogName = CATALOG_NAMES.get(plain);
  if (catalogName !== undefined) return catalogName;
  if (modifier !== undefined || plain !== element?.toLowerCase()) return isTypeName(plain) ? plain : undefined;
  return isTypeName(type) ? type : undefined;
};

const isTypeName = (name: string): boolean =>
  name !== "" && !/[\s.()[\]"]/.test(name) && Buffer.byteLength(name) <= MAX_NAME_BYTES;

/** Returns a function that logs the types which the model lacks, each type only once, because models are loaded
 *  repeatedly. @rule X-START-6 */
export const createTypeCheck = (plugins: readonly Plugin[], logger: Logger): ((model: Model) => void) => {
  const loggedKeys = new Set<string>();
  return (model) => {
    const names = new Set(Array.from(model.types.values(), (type) => type.name));
    for (const { name: plugin, operators = [], updateOperators = [], extensionTypes = [] } of plugins) {
      for (const spec of [...operators, ...updateOperators]) {
        for (const type of listTypes(spec)) {
          const key = `${plugin} ${spec.name} ${type}`;
          if (names.has(type) || GROUPS.has(type) || extensionTypes.includes(type) || loggedKeys.has(key)) continue;
          loggedKeys.add(key);
          const closestNames = findClosestNames(type, names);
          logger.warn("an operator is for a type that the database does not have", {
            plugin,
            operator: spec.name,
            type,
            ...(closestNames.length === 0 ? {} : { near: closestNames }),
          });
        }
      }
    }
  };
};
