/** The tables of `<schema>_history`, as relations that plans may name and requests may not. */
import {
  columnOf,
  nameKey,
  sql,
  value,
  type Column,
  type IntrospectContext,
  type Model,
  type QualifiedName,
  type Relation,
  type Relationship,
} from "../../../core/index.ts";

/** When a row came to be as it is, and when it ceased to be; null: it is so now. */
export const FROM = "valid_from";
export const TO = "valid_to";

const PART = "row-history";
const SUFFIX = "_history";

interface Found extends QualifiedName {
  readonly oid: number;
  readonly columns: readonly { readonly name: string; readonly type: number; readonly sqlType: string }[];
}

type Histories = ReadonlyMap<string, QualifiedName>;

/** Where the history of the relation is kept; undefined: it has none. */
export const historyOf = (model: Model, name: QualifiedName): QualifiedName | undefined =>
  (model.parts[PART] as Histories | undefined)?.get(nameKey(name)); // only `withHistories` writes it

const findTables = ({ query, schemas }: IntrospectContext): Promise<readonly Found[]> =>
  query<Found>(sql`
    select n.nspname as schema, c.relname as name, c.oid::int8::int4 as oid,
      (select json_agg(json_build_object('name', a.attname, 'type', a.atttypid::int8, 'sqlType',
         pg_catalog.format_type(a.atttypid, a.atttypmod)) order by a.attnum)
       from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any(${value(`{${schemas.map((name) => JSON.stringify(name + SUFFIX)).join(",")}}`, "text[]")})
      and c.relkind in ('r', 'p', 'v', 'm')`);

const timeColumn = ({ name, type, sqlType }: Found["columns"][number], position: number): Column => ({
  name,
  position,
  type,
  sqlType,
  notNull: false,
  isGenerated: false,
  acl: [],
  isUpdatable: false,
});

/** The relationships of the table, between histories where there are some. @rule P-HIS-3 */
const waysOf = (relation: Relation, own: QualifiedName, histories: Histories): readonly Relationship[] =>
  relation.relationships
    .filter(({ routine }) => routine === undefined)
    .map((relationship) => ({
      ...relationship,
      source: own,
      target: histories.get(nameKey(relationship.target)) ?? relationship.target,
      isManual: true, // nothing in the database promises that there is one version at a time
    }));

/** @rule P-HIS-1 */
export const withHistories = async (model: Model, context: IntrospectContext): Promise<Model> => {
  const found = new Map<string, Found>();
  const histories = new Map<string, QualifiedName>();
  for (const table of await findTables(context)) {
    const of = { schema: table.schema.slice(0, -SUFFIX.length), name: table.name };
    const names = table.columns.map(({ name }) => name);
    if (!model.relations.has(nameKey(of)) || !names.includes(FROM) || !names.includes(TO)) continue;
    if (context.schemas.includes(table.schema)) context.warn(`no history is read from ${table.schema}: it is exposed`);
    else {
      found.set(nameKey(of), table);
      histories.set(nameKey(of), { schema: table.schema, name: table.name });
    }
  }
  if (histories.size === 0) return model;
  const relations = new Map(model.relations);
  for (const [key, table] of found) {
    const relation = model.relations.get(key) as Relation; // looked up above
    const types = new Map(table.columns.map(({ name, type }) => [name, type]));
    const own = histories.get(key) as QualifiedName;
    relations.set(nameKey(own), {
      ...relation,
      plain: undefined, // what reading it runs is not known
      ...own,
      oid: table.oid,
      kind: "table",
      columns: [
        ...relation.columns.filter(({ name, type }) => types.get(name) === type),
        ...table.columns.flatMap((column, at) =>
          column.name === FROM || column.name === TO ? [timeColumn(column, at + 1)] : [],
        ),
      ],
      uniqueKeys: [],
      foreignKeys: [],
      writable: { insert: false, update: false, delete: false },
      relationships: waysOf(relation, own, histories),
    });
  }
  return { ...model, relations, parts: { ...model.parts, [PART]: histories } };
};

/** What both versions have. */
export const keptColumns = (model: Model, relation: Relation, history: QualifiedName): readonly string[] => {
  const kept = model.relations.get(nameKey(history));
  return relation.columns.flatMap(({ name }) => (kept && columnOf(kept, name) !== undefined ? [name] : []));
};
