/**
 * A random database for live queries: tables with and without keys, foreign keys, partitions, views, domains, row
 * policies, and roles by grants and by metadata. Each row contains its owner (`owner`), its table (`src`) and an
 * increasing number (`n`), by which subscribers check it.
 */
import {
  array,
  buildMetadataDocument,
  object,
  permissions,
  table as entry,
  type Entry,
} from "../../support/metadata-document.ts";
import type { Random } from "../../support/random.ts";

export const SCHEMA = "live";

/** The number of initial rows of a table. */
export const FIRST_IDS = 10;

export const USERS = ["u1", "u2", "u3"] as const;
/** The owners of rows. No user is called `pub`. */
export const OWNERS = [...USERS, "pub"] as const;

/** Roles by grants of the database, for both surfaces. `music_artist` may not read `secret`. */
export const GRANT_ROLES = ["music_reader", "music_artist"] as const;
export type GrantRole = (typeof GRANT_ROLES)[number];

/** Roles by metadata, only for GraphQL. */
export const METADATA_ROLES = ["meta_own", "meta_mixed", "meta_related"] as const;
export type MetadataRole = (typeof METADATA_ROLES)[number];

export type Policy = "own" | "all" | "member";

const KEYS = ["identity", "bigint", "domain", "text", "composite", "partitioned", "none", "unique"] as const;
type KeyKind = (typeof KEYS)[number];

export interface TableShape {
  readonly name: string;
  readonly key: KeyKind;
  /** The table that its column `ref` refers to. */
  readonly parent: string | undefined;
  readonly onDelete: "cascade" | "set null";
  /** The row policy that is enabled from the start. */
  readonly policy: Policy | undefined;
  readonly labelType: string;
  /** The SQLSTATE that its function raises. */
  readonly risk: string;
}

interface ViewShape {
  readonly name: string;
  readonly table: string;
  readonly isInvoker: boolean;
  /** The condition of the view, if it has one. */
  readonly where: string;
}

export type Source = "replication" | "notify" | "poll";

export interface World {
  readonly tables: readonly TableShape[];
  readonly views: readonly ViewShape[];
  readonly source: Source;
  /** How the servers are notified of a new schema. */
  readonly reload: "call" | "notify" | "poll";
  readonly batchSize: number;
}

/** Returns whether a single column identifies the rows. */
export const hasKey = ({ key }: TableShape): boolean =>
  key === "identity" || key === "bigint" || key === "domain" || key === "text";

export const drawWorld = (random: Random, sources: readonly Source[]): World => {
  const tables: TableShape[] = [];
  const count = 2 + random.int(3);
  for (let index = 0; index < count; index++) {
    const parents = tables.filter(hasKey);
    tables.push({
      name: `t${index + 1}`,
      key: index === 0 ? random.pick(KEYS.slice(0, 4)) : random.pick(KEYS),
      parent: parents.length > 0 && random.chance(0.8) ? random.pick(parents).name : undefined,
      onDelete: random.pick(["cascade", "set null"]),
      policy: random.chance(0.35) ? random.pick(["own", "all", "member"]) : undefined,
      labelType: random.pick(["text", "varchar(40)", `${SCHEMA}.label`]),
      risk: random.pick(["P0001", "22012", "42501", "42883"]),
    });
  }
  // Partitions themselves are not exposed.
  const viewable = tables.flatMap(({ name, key }) =>
    key === "partitioned" ? [name, `${name}_low`, `${name}_high`] : [name],
  );
  const views = random.sample(viewable, random.int(4)).map((table, index) => ({
    name: `v${index + 1}`,
    table,
    isInvoker: random.chance(0.5),
    where: random.pick(["", "", "bucket < 2", "val is not null"]),
  }));
  return {
    tables,
    views,
    source: random.pick(sources),
    reload: random.pick(["call", "notify", "poll"]),
    batchSize: random.pick([2, 5, 100]),
  };
};

const idType = (key: KeyKind): string =>
  key === "text" ? "text" : key === "bigint" ? "bigint" : key === "domain" ? `${SCHEMA}.code` : "int";

/** The text of a number as a key of the table. */
export const idText = ({ key }: TableShape, id: number): string => (key === "text" ? `'k${id}'` : String(id));

const ME =
  "coalesce(nullif(current_setting('session.user_id', true), ''), nullif(current_setting('request.jwt.claims', true), '')::json ->> 'user_id')";

const CONDITIONS: Readonly<Record<Policy, string>> = {
  own: `owner = ${ME}`,
  all: "true",
  member: `exists (select from ${SCHEMA}.member m where m.user_id = ${ME} and m.owner = t.owner)`,
};

export const policySql = (table: string, policy: Policy): string =>
  `drop policy if exists who on ${SCHEMA}.${table}; create policy who on ${SCHEMA}.${table} using (${CONDITIONS[policy].replaceAll("t.owner", `${table}.owner`)})`;

/** The columns that `music_artist` may read. */
const OPEN_COLUMNS = "id, bucket, owner, n, src, label, val, ref";

export const grantSql = (relation: string, role: GrantRole): string =>
  `grant select ${role === "music_artist" ? `(${OPEN_COLUMNS}) ` : ""}on ${SCHEMA}.${relation} to ${role}`;

export const revokeSql = (relation: string, role: GrantRole): string =>
  `revoke select${role === "music_artist" ? ` (${OPEN_COLUMNS})` : ""} on ${SCHEMA}.${relation} from ${role}`;

export const viewSql = ({ name, table, isInvoker }: ViewShape, where: string): string =>
  `create or replace view ${SCHEMA}.${name} with (security_invoker = ${isInvoker}) as select id, bucket, owner, n, '${name}'::text as src, label, val, ref, secret from ${SCHEMA}.${table}${where === "" ? "" : ` where ${where}`}`;

const tableSql = (world: World, shape: TableShape): string => {
  const { name, key, parent, onDelete, policy, labelType, risk } = shape;
  const parentShape = world.tables.find((table) => table.name === parent);
  const constraint =
    key === "composite" || key === "partitioned"
      ? ", primary key (id, bucket)"
      : key === "none"
        ? ""
        : key === "unique"
          ? ", unique (id)"
          : ", primary key (id)";
  const foreign =
    parentShape === undefined
      ? ""
      : `, constraint ${name}_ref foreign key (ref) references ${SCHEMA}.${parent} (id) on delete ${onDelete} on update cascade`;
  return [
    `create table ${SCHEMA}.${name} (
      id ${idType(key)} not null, bucket int not null, owner text not null, n bigint not null default nextval('${SCHEMA}.tick'),
      src text not null default '${name}', label ${labelType}, val int, ref ${parentShape === undefined ? "int" : idType(parentShape.key)},
      secret text${constraint}${foreign}
    )${key === "partitioned" ? " partition by list (bucket)" : ""}`,
    ...(key === "partitioned"
      ? [
          `create table ${SCHEMA}.${name}_low partition of ${SCHEMA}.${name} for values in (0, 1)`,
          `create table ${SCHEMA}.${name}_high partition of ${SCHEMA}.${name} for values in (2, 3)`,
        ]
      : []),
    // The function raises for some rows, with another error for each table.
    `create function ${SCHEMA}.risky_${name}(${SCHEMA}.${name}) returns int language plpgsql stable as $$ begin
      if $1.val = 13 then raise exception using errcode = '${risk}', message = 'thirteen'; end if;
      return $1.val;
    end $$`,
    ...(policy === undefined
      ? []
      : [`alter table ${SCHEMA}.${name} enable row level security`, policySql(name, policy)]),
  ].join(";\n");
};

/** The SQL of the world. `ids` is the number of initial rows of each table. */
export const worldSql = (world: World, ids: number): string =>
  [
    `drop schema if exists ${SCHEMA} cascade`,
    `create schema ${SCHEMA}`,
    `grant usage on schema ${SCHEMA} to ${GRANT_ROLES.join(", ")}`,
    `create sequence ${SCHEMA}.tick`,
    `create domain ${SCHEMA}.code as int`,
    `create domain ${SCHEMA}.label as text check (length(value) < 100000)`,
    `create table ${SCHEMA}.member (user_id text, owner text, primary key (user_id, owner))`,
    `insert into ${SCHEMA}.member values ('u1', 'u1'), ('u2', 'u2'), ('u2', 'pub'), ('u3', 'u1')`,
    `grant select on ${SCHEMA}.member to ${GRANT_ROLES.join(", ")}`,
    ...world.tables.flatMap((shape) => [
      tableSql(world, shape),
      ...GRANT_ROLES.map((role) => grantSql(shape.name, role)),
      ...Array.from({ length: ids }, (_, index) => insertSql(world, shape, index + 1, index)),
    ]),
    ...world.views.flatMap((view) => [viewSql(view, view.where), grantSql(view.name, "music_reader")]),
  ].join(";\n");

const LABELS = ["a", "ab", "b c", 'x,"y"', "é", ""] as const;

/** An insert of a row. `salt` determines everything except the id. */
export const insertSql = (world: World, { name, parent, ...shape }: TableShape, id: number, salt: number): string => {
  const owner = OWNERS[salt % OWNERS.length] as string; // the index is within the length
  const parentShape = world.tables.find((table) => table.name === parent);
  const ref =
    parentShape === undefined || salt % 5 === 0
      ? "null"
      : `(select id from ${SCHEMA}.${parentShape.name} where id = ${idText(parentShape, 1 + ((salt * 7) % 12))})`;
  const label = salt % 7 === 0 ? "null" : `'${LABELS[salt % LABELS.length]}'`;
  return `insert into ${SCHEMA}.${name} (id, bucket, owner, label, val, ref, secret) values (${idText({ name, parent, ...shape }, id)}, ${salt % 4}, '${owner}', ${label}, ${salt % 6 === 0 ? "null" : (salt * 3) % 20}, ${ref}, 'secret of ${owner}')`;
};

export const objectName = ({ parent }: TableShape): string => `one_${parent}`;
export const arrayName = (child: TableShape): string => `many_${child.name}`;

/** Tables that a metadata role currently may not read. */
export type ClosedTables = Readonly<Partial<Record<MetadataRole, readonly string[]>>>;

const ownerFilter = { owner: { _eq: "X-Session-User-Id" } };

const buildFilter = (shape: TableShape, role: MetadataRole): Entry => {
  if (role === "meta_own") return ownerFilter;
  if (role === "meta_mixed") return { _or: [ownerFilter, { bucket: { _eq: 0 } }] };
  return shape.parent === undefined ? ownerFilter : { [objectName(shape)]: ownerFilter };
};

export const buildMetadata = (world: World, closedTables: ClosedTables): Entry =>
  buildMetadataDocument([
    ...world.tables.map((shape) => {
      const children = world.tables.filter(({ parent }) => parent === shape.name);
      return entry(`${SCHEMA}.${shape.name}`, {
        object_relationships: shape.parent === undefined ? [] : [object(objectName(shape), "ref")],
        array_relationships: children.map((child) => ({
          ...array(arrayName(child), child.name, "ref"),
          using: {
            foreign_key_constraint_on: { table: { schema: SCHEMA, name: child.name }, column: "ref" },
          },
        })),
        computed_fields: [
          { name: `risky_${shape.name}`, definition: { function: { schema: SCHEMA, name: `risky_${shape.name}` } } },
        ],
        select_permissions: permissions(
          Object.fromEntries(
            METADATA_ROLES.filter((role) => closedTables[role]?.includes(shape.name) !== true).map((role) => [
              role,
              {
                columns: role === "meta_own" ? "*" : ["id", "bucket", "owner", "n", "src", "label", "val", "ref"],
                filter: buildFilter(shape, role),
                allow_aggregations: true,
                computed_fields: [`risky_${shape.name}`],
              },
            ]),
          ),
        ),
      });
    }),
    ...world.views.map(({ name }) =>
      entry(`${SCHEMA}.${name}`, {
        select_permissions: permissions({ meta_own: { columns: "*", filter: ownerFilter, allow_aggregations: true } }),
      }),
    ),
  ]);
