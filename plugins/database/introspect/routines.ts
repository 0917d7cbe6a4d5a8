/** Loads functions with their parameters and results. */
import {
  sql,
  type IntrospectContext,
  type PgType,
  type QualifiedName,
  type Routine,
  type RoutineParameter,
  type Volatility,
} from "../../../core/index.ts";
import type { createAclReader } from "./privileges.ts";
import { bindNames, compileSchemaSet, type AdditionalObjects } from "./chosen-relations.ts";

/** The letters mean: `i` IN, `o` OUT, `b` INOUT, `v` VARIADIC, `t` TABLE. */
type Mode = "i" | "o" | "b" | "v" | "t";

export interface RoutineRow {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  readonly volatility: "i" | "s" | "v";
  readonly owner: string;
  readonly acl: readonly string[];
  readonly comment: string | null;
  /** The types of all parameters, including OUT and TABLE ones. */
  readonly types: readonly number[];
  readonly names: readonly string[] | null;
  readonly modes: readonly Mode[] | null;
  readonly defaultCount: number;
  /** The defaults of all parameters as SQL. Null unless the function has a variadic parameter. */
  readonly defaults: readonly (string | null)[] | null;
  readonly resultType: number;
  readonly isSet: boolean;
  readonly isStrict: boolean;
  readonly rows: number;
  readonly settings: readonly string[] | null;
}

/** Loads the functions of the exposed schemas. From the rest of the search path, it loads functions that take a row of
 *  an exposed relation (computed fields). Procedures, aggregates, window and trigger functions are omitted.
 *  @rule R-RPC-1 R-CMP-1 R-SC-1 */
export const loadRoutines = (
  context: IntrospectContext,
  additional: AdditionalObjects,
): Promise<readonly RoutineRow[]> => {
  return context.query<RoutineRow>(sql`
with ${compileSchemaSet("exposed", context.schemas)},
${compileSchemaSet("extra", context.extraSearchPath)},
chosen (oid) as (
  select routine.oid
  from pg_catalog.pg_proc routine
  where routine.pronamespace in (select exposed.oid from exposed)
  union
  select routine.oid
  from pg_catalog.pg_proc routine
  cross join lateral pg_catalog.unnest(routine.proargtypes) parameter (type)
  join pg_catalog.pg_type type on type.oid = parameter.type and type.typtype = 'c'
  join pg_catalog.pg_class relation on relation.oid = type.typrelid
  where routine.pronamespace in (select extra.oid from extra)
    and relation.relnamespace in (select exposed.oid from exposed)
  union
  select routine.oid
  from pg_catalog.json_array_elements(${bindNames(additional.routines)}) name (parts)
  join pg_catalog.pg_namespace schema on schema.nspname = name.parts ->> 0
  join pg_catalog.pg_proc routine on routine.proname = name.parts ->> 1 and routine.pronamespace = schema.oid
)
select routine.oid,
  schema.nspname::text as schema,
  routine.proname::text as name,
  routine.provolatile::text as volatility,
  pg_catalog.pg_get_userbyid(routine.proowner)::text as owner,
  pg_catalog.to_json(coalesce(routine.proacl, pg_catalog.acldefault('f', routine.proowner))::text[]) as acl,
  comment.description as comment,
  pg_catalog.to_json(coalesce(routine.proallargtypes, routine.proargtypes::pg_catalog.oid[])::int8[]) as types,
  pg_catalog.to_json(routine.proargnames) as names,
  pg_catalog.to_json(routine.proargmodes) as modes,
  routine.pronargdefaults::int4 as "defaultCount",
  case when routine.provariadic <> 0 then (
    select pg_catalog.json_agg(pg_catalog.pg_get_function_arg_default(routine.oid, parameter.number) order by parameter.number)
    from pg_catalog.generate_series(1, pg_catalog.cardinality(coalesce(routine.proallargtypes, routine.proargtypes::pg_catalog.oid[]))) parameter (number)
  ) end as defaults,
  routine.prorettype as "resultType",
  routine.proretset as "isSet",
  routine.proisstrict as "isStrict",
  routine.prorows as rows,
  pg_catalog.to_json(routine.proconfig) as settings
from chosen
join pg_catalog.pg_proc routine on routine.oid = chosen.oid
join pg_catalog.pg_namespace schema on schema.oid = routine.pronamespace
left join pg_catalog.pg_description comment
  on comment.objoid = routine.oid and comment.classoid = 'pg_catalog.pg_proc'::pg_catalog.regclass and comment.objsubid = 0
where routine.prokind = 'f'
  and routine.prorettype not in ('pg_catalog.trigger'::pg_catalog.regtype, 'pg_catalog.event_trigger'::pg_catalog.regtype)
order by schema.nspname, routine.proname, routine.oid`);
};

const VOLATILITY: Readonly<Record<RoutineRow["volatility"], Volatility>> = {
  i: "immutable",
  s: "stable",
  v: "volatile",
};

interface Parameter {
  readonly name: string;
  readonly type: number;
  readonly mode: Mode;
  readonly default: string | undefined;
}

interface RoutineParts {
  readonly readAcl: ReturnType<typeof createAclReader>;
  readonly types: ReadonlyMap<number, PgType>;
}

/** Builds the function of a catalog row. */
export const buildRoutine = (row: RoutineRow, parts: RoutineParts): Routine => {
  const allParameters = row.types.map((type, i): Parameter => ({
    name: row.names?.[i] ?? "",
    type,
    mode: row.modes?.[i] ?? "i",
    default: row.defaults?.[i] ?? undefined,
  }));
  const inputs = allParameters.filter(({ mode }) => mode === "i" || mode === "b" || mode === "v");
  const outputs = allParameters.filter(({ mode }) => mode === "o" || mode === "b" || mode === "t");
  return {
    schema: row.schema,
    name: row.name,
    oid: row.oid,
    volatility: VOLATILITY[row.volatility],
    owner: row.owner,
    acl: parts.readAcl(row.acl, "routine"),
    comment: row.comment ?? undefined,
    parameters: inputs.map(({ name, type, mode, default: default_ }, i): RoutineParameter => ({
      name,
      type,
      sqlType: findCastType(parts.types.get(type)),
      mode: mode === "b" ? "inout" : mode === "v" ? "variadic" : "in",
      hasDefault: i >= inputs.length - row.defaultCount,
      default: default_,
    })),
    returns: describeResult(row, outputs, parts.types),
    isStrict: row.isStrict,
    rows: row.rows,
    settings: (row.settings ?? []).map((setting) => {
      const end = setting.indexOf("=");
      return [setting.slice(0, end), setting.slice(end + 1)] as const;
    }),
  };
};

// A cast to these types or their arrays without a length truncates to one character or bit.
const UNLIMITED_TYPES: Readonly<Record<string, string>> = {
  bpchar: "character varying",
  _bpchar: "character varying[]",
  bit: "bit varying",
  _bit: "bit varying[]",
};

/** Returns the type to which an argument is cast. @rule R-RPC-4 */
const findCastType = (type: PgType | undefined): string => {
  if (type === undefined) return "text";
  return (type.schema === "pg_catalog" ? UNLIMITED_TYPES[type.name] : undefined) ?? type.sqlName;
};

/** Describes the result of a function. @rule R-RPC-11 R-RPC-12 */
const describeResult = (
  row: RoutineRow,
  outputs: readonly Parameter[],
  types: ReadonlyMap<number, PgType>,
): Routine["returns"] => {
  const declaredType = types.get(row.resultType);
  const base = findBaseType(declaredType, types);
  const common = { type: row.resultType, isSet: row.isSet, hasOutParameters: outputs.length > 0 };
  // A single OUT parameter of a composite type is the whole composite, so the type is checked first.
  if (base?.kind === "composite") {
    const relation: QualifiedName | undefined = base.relation;
    return { ...common, kind: "composite", relation, columns: base.attributes ?? [] };
  }
  if (outputs.length > 0)
    return { ...common, kind: "composite", columns: outputs.map(({ name, type }) => ({ name, type })) };
  if (declaredType?.kind === "pseudo" && declaredType.name === "record")
    return { ...common, kind: "record", columns: [] };
  if (declaredType?.kind === "pseudo" && declaredType.name === "void") return { ...common, kind: "void", columns: [] };
  return { ...common, kind: "scalar", columns: [] };
};

const findBaseType = (type: PgType | undefined, types: ReadonlyMap<number, PgType>): PgType | undefined => {
  let current = type;
  for (let depth = 0; current?.kind === "domain" && current.base !== undefined && depth < 32; depth++)
    current = types.get(current.base);
  return current;
};
