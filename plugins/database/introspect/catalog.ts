/** Loads the model from the catalogs: relations, routines, types, roles, privileges. Other plugins add the
 *  relationships. */
import {
  definePlugin,
  forEachSliced,
  runSliced,
  buildNameKey,
  type IntrospectContext,
  type Model,
  type Slices,
  type QualifiedName,
  type Relation,
  type Routine,
} from "../../../core/index.ts";
import { ADDITIONAL_OBJECTS } from "../api.ts";
import { getColumnNames, findPrimaryKey, createRelationBuilder, createRowTypeBuilder } from "./build-relation.ts";
import { createAclReader, loadRoles } from "./privileges.ts";
import type { AdditionalObjects } from "./chosen-relations.ts";
import { loadRelations, type ConflictTargetRow, type RelationRow } from "./relations.ts";
import { buildRoutine, loadRoutines, type RoutineRow } from "./routines.ts";
import { loadServer } from "./server.ts";
import { loadTypes, loadCommonTypes } from "./types.ts";
import { deriveViewKey, parseOrigins, traceViews, type Origins } from "./views.ts";

/** The column of a table that a view column shows, by name. */
interface ColumnOrigin {
  readonly relation: QualifiedName;
  readonly column: string;
}

/** Columns of views that show columns of tables. The keys are the `buildNameKey` of the view and the name of the column. */
export type ColumnOrigins = ReadonlyMap<string, ReadonlyMap<string, ColumnOrigin>>;

const NAME = "catalog-introspection";

/** `Model.pluginFacts` under the name of this plugin. */
interface CatalogFacts {
  readonly columnOrigins: ColumnOrigins;
}

export const getColumnOrigins = (model: Model): ColumnOrigins =>
  (model.pluginFacts[NAME] as CatalogFacts | undefined)?.columnOrigins ?? new Map();

/** Returns the relations and routines to load although their schema is not exposed. */
const readAdditionalObjects = (model: Model, { hiddenSchemas }: IntrospectContext): AdditionalObjects => {
  const { relations = [], routines = [] } = (model.pluginFacts[ADDITIONAL_OBJECTS] ?? {}) as Partial<AdditionalObjects>;
  return { relations, routines, schemas: hiddenSchemas };
};

/** Loads the catalog with five queries, independent of the number of relations. One more query loads other types than
 *  the common types. @rule R-SC-1 */
const loadCatalog = async (model: Model, context: IntrospectContext): Promise<Model> => {
  const additional = readAdditionalObjects(model, context);
  // The relations take longest to process, so they are requested first, and the database runs the other queries in the
  // meantime. No query waits for a result that it does not need.
  const rowsOfRelations = loadRelations(context, additional);
  const commonTypes = loadCommonTypes(context);
  const rowsOfRoutines = loadRoutines(context, additional);
  const serverCatalog = loadServer(context, additional);
  const rolesByName = serverCatalog.then(({ serverVersion }) => loadRoles(context, serverVersion));
  rolesByName.catch(() => undefined); // the promise is awaited below
  const [relationRows, commonRows, routineRows] = await Promise.all([rowsOfRelations, commonTypes, rowsOfRoutines]);
  const shownRows = relationRows.filter(({ isPartition }) => !isPartition);
  const { types, getDomainTraits } = await loadTypes(context, commonRows, collectTypes(relationRows, routineRows), {
    oids: shownRows.map(({ rowType }) => rowType),
    buildRowTypes: () => runSliced(mapSliced(shownRows, createRowTypeBuilder())),
  });

  const readAcl = createAclReader();
  const byOid = new Map<number, RelationRow>();
  await forEachSliced(relationRows, (row) => byOid.set(row.oid, row));
  const origins = await runSliced(traceOrigins(byOid));
  const findViewKey = (view: RelationRow): readonly number[] =>
    deriveViewKey(origins.get(view.oid) ?? new Map(), (table) => {
      const row = byOid.get(table);
      return row === undefined ? [] : findPrimaryKey(row);
    });
  /** Returns the targets whose columns have the same names in the view, because the texts of an index name the columns
   *  of the table. */
  const findViewTargets = (view: RelationRow): readonly ConflictTargetRow[] => {
    const columnOrigins = [...(origins.get(view.oid) ?? [])];
    const [table, ...otherTables] = new Set(columnOrigins.map(([, { relation }]) => relation));
    const row = table === undefined || otherTables.length > 0 ? undefined : byOid.get(table);
    if (row === undefined) return [];
    const [namesOfView, namesOfTable] = [getColumnNames(view), getColumnNames(row)];
    const findPosition = (column: number): number | undefined =>
      columnOrigins.find(
        ([viewColumn, { position }]) => position === column && namesOfView.get(viewColumn) === namesOfTable.get(column),
      )?.[0];
    return (row.conflictTargets ?? []).flatMap(([columns, ...details]): readonly ConflictTargetRow[] => {
      const viewColumns = columns.map(findPosition);
      return viewColumns.every((viewColumn) => viewColumn !== undefined) ? [[viewColumns, ...details]] : [];
    });
  };
  const findOrigin = (view: RelationRow, position: number) => {
    const origin = origins.get(view.oid)?.get(position);
    return (
      origin && byOid.get(origin.relation)?.columns?.find(([columnPosition]) => columnPosition === origin.position)
    );
  };
  const build = createRelationBuilder({
    readAcl,
    getDomainTraits,
    types,
    rows: byOid,
    findViewKey,
    findViewTargets,
    findOrigin,
  });
  const relations = new Map<string, Relation>();
  await forEachSliced(shownRows, (row) => {
    const relation = build(row);
    relations.set(buildNameKey(relation), relation);
  });
  const routines = await runSliced(mapSliced(routineRows, (row) => buildRoutine(row, { readAcl, types })));

  const [server, roles] = await Promise.all([serverCatalog, rolesByName]);
  const schemasByName = new Map(server.schemas.map((schema) => [schema.name, schema]));
  for (const schema of context.schemas) {
    if (!schemasByName.has(schema)) context.warn(`schema "${schema}" is exposed but does not exist`);
  }
  const facts: CatalogFacts = { columnOrigins: nameOrigins(origins, byOid) };
  return {
    ...model,
    schemas: context.schemas,
    schemaComments: new Map(
      server.schemas.flatMap(({ name, comment }) => (comment === null ? [] : [[name, comment] as const])),
    ),
    schemaAcls: new Map(server.schemas.map(({ name, owner, acl }) => [name, { owner, acl: readAcl(acl, "schema") }])),
    relations,
    routines: groupRoutines(routines),
    types,
    roles,
    loginRole: server.loginRole,
    loginPath: server.loginPath,
    representations: server.representations,
    mediaHandlers: server.mediaHandlers,
    shadowedNames: server.shadowedNames,
    extensions: server.extensions,
    serverVersion: server.serverVersion,
    pluginFacts: { ...model.pluginFacts, [NAME]: facts },
  };
};

const mapSliced = function* <From, To>(list: readonly From[], make: (from: From) => To): Slices<readonly To[]> {
  const items: To[] = [];
  for (const from of list) {
    items.push(make(from));
    yield;
  }
  return items;
};

const collectTypes = function* (relations: readonly RelationRow[], routines: readonly RoutineRow[]): Generator<number> {
  const seenColumns = new Set<RelationRow["columns"]>();
  for (const { columns } of relations) {
    if (seenColumns.has(columns)) continue;
    seenColumns.add(columns);
    for (const [, , type] of columns ?? []) yield type;
  }
  for (const { types, resultType } of routines) {
    yield* types;
    yield resultType;
  }
};

const traceOrigins = function* (rows: ReadonlyMap<number, RelationRow>): Slices<ReadonlyMap<number, Origins>> {
  const views = new Map<number, Origins>();
  for (const row of rows.values()) {
    if (row.action !== null) views.set(row.oid, parseOrigins(row.action));
    yield;
  }
  const isTable = (oid: number): boolean => {
    const kind = rows.get(oid)?.kind;
    return kind === "table" || kind === "partitioned" || kind === "foreign";
  };
  return traceViews(views, isTable);
};

const nameOrigins = (origins: ReadonlyMap<number, Origins>, rows: ReadonlyMap<number, RelationRow>): ColumnOrigins => {
  const namedOrigins = new Map<string, ReadonlyMap<string, ColumnOrigin>>();
  for (const [oid, columns] of origins) {
    const view = rows.get(oid);
    if (view === undefined) continue;
    const names = getColumnNames(view);
    const byName = new Map<string, ColumnOrigin>();
    for (const [position, origin] of columns) {
      const table = rows.get(origin.relation);
      const name = names.get(position);
      const column = table && getColumnNames(table).get(origin.position);
      if (table === undefined || name === undefined || column === undefined) continue;
      byName.set(name, { relation: { schema: table.schema, name: table.name }, column });
    }
    namedOrigins.set(buildNameKey(view), byName);
  }
  return namedOrigins;
};

const groupRoutines = (routines: readonly Routine[]): ReadonlyMap<string, readonly Routine[]> => {
  const byName = new Map<string, Routine[]>();
  for (const routine of routines) {
    const overloads = byName.get(buildNameKey(routine));
    if (overloads === undefined) byName.set(buildNameKey(routine), [routine]);
    else overloads.push(routine);
  }
  return byName;
};

/** Reads the relations, functions, types, roles and privileges of the model from the catalogs. */
export const catalogIntrospection = definePlugin({
  name: NAME,
  apply: (hooks) => hooks.introspect.tapPromise(NAME, loadCatalog),
});
