/** Adds names, relationships and permissions from Hasura metadata: `METADATA=./metadata`. */
import { resolve } from "node:path";
import {
  columnOf,
  definePlugin,
  ident,
  mayUseColumn,
  mayUseSchema,
  nameKey,
  relationOf,
  sql,
  Stage,
  type IntrospectContext,
  type Model,
  type PluginContext,
  type QualifiedName,
  type Registry,
  type Relation,
  type Relationship,
} from "../../core/index.ts";
import {
  listOf,
  nameOf,
  objectOf,
  readDocument,
  textOf,
  type MetadataDocument,
  type LogIgnored,
  type TableDocument,
} from "./document.ts";
import { roleGone } from "./errors.ts";
import { createFilterReader } from "./filter.ts";
import { inheritance } from "./inherit.ts";
import { loadMetadata } from "./load.ts";
import { customizationOf, functionEntries, matchTables, namedRelationships, type NamedTable } from "./names.ts";
import { buildPermissions } from "./build-permissions.ts";
import type { Permissions } from "./permissions.ts";
import { createVisibility } from "./visibility.ts";
import { loaderSettings, metadataSettings } from "./settings.ts";
import { metadataPermissionsForRest } from "../shared/settings.ts";
import { applyPermissions, permissionsOf } from "./transform.ts";
import { createFunctionRights, createRoleAccess, mayCallOf, type FunctionRights } from "./role-access.ts";
import { takenNames } from "./taken-names.ts";
import { metadataSourceService, type MetadataNative, type MetadataProblem, type MetadataProposal } from "./api.ts";
import type { GqlMetadata } from "../graphql/api.ts";

/** The part of the model that the metadata plugins share. */
export interface MetadataPart extends GqlMetadata {
  readonly permissions: Permissions;
  readonly functionRights: FunctionRights;
  readonly isNamed: (relationship: Relationship) => boolean;
}

const DOCUMENT_PART = "metadata-document";
const METADATA_PROPOSAL = "metadata-proposal";
/** Contains `MetadataQueries` for other plugins. */
const METADATA_QUERIES = "metadata-queries";
/** Contains `MetadataLimits` for other plugins. */
const METADATA_LIMITS = "metadata-limits";

/** Contains `MetadataNative` for other plugins. */
const METADATA_NATIVE = "metadata-native";
/** Contains `MetadataProblem`s for other plugins. */
const METADATA_PROBLEMS = "metadata-problems";

const ignoredPartLogger =
  (warn: IntrospectContext["warn"], problems: MetadataProblem[]): LogIgnored =>
  (message, of) => {
    warn(`metadata: ${message}`);
    if (of !== undefined) problems.push({ ...of, reason: message });
  };

/** Reads the files before the catalog, so that tables of schemas that are not exposed are loaded too. @rule G-MET-1 …
 *  G-MET-7 */
export const metadataLoader = definePlugin({
  name: "metadata-loader",
  settings: loaderSettings,
  before: ["catalog-introspection"],
  apply: (hooks, context) => {
    const { metadata } = context.options;
    if (metadata === undefined) return;
    let last: MetadataDocument | undefined;
    let proposal: MetadataProposal | undefined;
    context.offer(metadataSourceService, {
      ...(typeof metadata === "string" ? { path: resolve(metadata) } : {}),
      read: () => loadMetadata(metadata),
      propose: (next) => {
        proposal = next;
      },
    });
    hooks.introspect.tapPromise("metadata-loader", async (model, { warn }) => {
      const problems: MetadataProblem[] = [];
      const note = ignoredPartLogger(warn, problems);
      const proposed = proposal;
      const served = servedKeys(context.registry);
      let document: MetadataDocument;
      try {
        if (proposed !== undefined) document = readDocument(proposed.raw, note, served);
        else document = last = readDocument((await loadMetadata(metadata)).raw, note, served);
        context.troubles.set("metadata", undefined);
      } catch (error) {
        if (last === undefined || proposed !== undefined) throw error;
        document = last;
        const told = `failed to load the new metadata; keeping the previous metadata: ${error instanceof Error ? error.message : String(error)}`;
        note(told);
        context.troubles.set("metadata", told);
      }
      const wanted = { relations: wantedRelations(document), routines: wantedRoutines(document) };
      return {
        ...model,
        parts: {
          ...model.parts,
          [DOCUMENT_PART]: document,
          [METADATA_QUERIES]: document.queries,
          [METADATA_LIMITS]: document.limits,
          [METADATA_NATIVE]: {
            ...document.native,
            taken: takenNames(document.customization, document.tables, document.functions),
          } satisfies MetadataNative,
          [METADATA_PROBLEMS]: problems,
          ...(proposed === undefined ? {} : { [METADATA_PROPOSAL]: proposed }),
          "catalog-wanted": wanted,
        },
      };
    });
  },
});

/** The metadata keys that other plugins of the preset handle. */
const servedKeys = ({ has }: Registry): readonly string[] => [
  ...(has("trusted-documents") || has("rest-endpoints") ? ["query_collections"] : []),
  ...(has("trusted-documents") ? ["allowlist", "allow_list"] : []),
  ...(has("rest-endpoints") ? ["rest_endpoints"] : []),
  ...(has("native-queries") ? ["native_queries", "logical_models"] : []),
  ...(["api-limits", "rate-limits", "row-limits", "cost-limits"].some(has) ? ["api_limits"] : []),
];

const wantedRelations = (document: MetadataDocument): readonly QualifiedName[] =>
  document.tables.map((table) => table.name);

const wantedRoutines = (document: MetadataDocument): readonly QualifiedName[] => [
  ...document.functions.map((fn) => fn.name),
  ...document.tables.flatMap((table) =>
    listOf(table.raw["computed_fields"]).flatMap(
      (field) => nameOf(objectOf(objectOf(field)["definition"])["function"]) ?? [],
    ),
  ),
];

/** Matches the metadata with the catalog. Consistent objects are served; the others are logged with their location.
 *  @rule G-MET-8 … G-MET-12 G-PRM-3 */
export const metadata = definePlugin({
  name: "metadata",
  settings: [...metadataSettings, metadataPermissionsForRest],
  requires: ["metadata-loader", "computed-relationships"],
  stage: Stage.late,
  apply: (hooks, context) => {
    if (context.options.metadata === undefined) return;
    hooks.introspect.tapPromise("metadata", async (model, introspection) => {
      const document = model.parts[DOCUMENT_PART] as MetadataDocument | undefined; // only the loader writes it
      return document === undefined ? model : matchDocument(document, model, introspection, context);
    });
  },
});

const matchDocument = async (
  document: MetadataDocument,
  model: Model,
  introspection: IntrospectContext,
  { registry, options }: PluginContext,
): Promise<Model> => {
  const problems = [...(model.parts[METADATA_PROBLEMS] as readonly MetadataProblem[])]; // the loader writes them
  const note = ignoredPartLogger(introspection.warn, problems);
  const enums = await loadEnums(document, model, introspection, note);
  const matched = matchTables(document, model, enums, note);
  const entries = new Map(matched.tables.map((table) => [nameKey(table.relation), table.entry]));
  const reader = createFilterReader(matched.model, registry, (relation) => entries.get(nameKey(relation)));
  const parentsOf = inheritance(document, note);
  // without the plugin that enforces permissions, grants apply to roles of the metadata too
  const permissions: Permissions = registry.has("metadata-permissions")
    ? new Map([
        ...(registry.has("native-queries") ? rolesOfModels(document) : []),
        ...buildPermissions(matched.tables, parentsOf, { model: matched.model, reader, note }),
      ])
    : new Map();
  const functionRights = createFunctionRights(document, parentsOf);
  const part: MetadataPart = {
    customization: customizationOf(document.customization, note),
    tables: matched.tables.map((table: NamedTable) => table.entry),
    functions: functionEntries(document, matched.model, note),
    introspectionClosedFor: new Set(document.closedForRoles),
    view: createRoleAccess(permissions, functionRights, document.closedForRoles, options.inferFunctionPermissions),
    permissions,
    functionRights,
    isNamed: namedRelationships(matched.tables),
  };
  const roles = new Map(
    [...permissions].map(([role, ofRole]) => [
      role,
      createVisibility(ofRole, matched.model, mayCallOf(functionRights, role, options.inferFunctionPermissions)),
    ]),
  );
  (model.parts[METADATA_PROPOSAL] as MetadataProposal | undefined)?.accept(problems); // the loader writes it
  return {
    ...matched.model,
    parts: { ...matched.model.parts, metadata: part, [METADATA_PROBLEMS]: problems },
    loginRoles: new Map([
      ["graphql", roles],
      ...(options.metadataPermissionsForRest ? ([["rest", roles]] as const) : []),
    ]),
  };
};

/** A role with a permission on a logical model is a role of the metadata, even if it has no permission on a table. */
const rolesOfModels = ({ native }: MetadataDocument): readonly (readonly [string, Map<string, never>])[] =>
  native.models
    .flatMap((model) => listOf(objectOf(model)["select_permissions"]))
    .flatMap((entry) => textOf(objectOf(entry)["role"]) ?? [])
    .map((role) => [role, new Map<string, never>()]);

const ENUM_NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;

type EnumValues = readonly { readonly key: string; readonly comment: string | null }[];

/** @rule G-ENM-1 G-ENM-5 */
const loadEnums = async (
  document: MetadataDocument,
  model: Model,
  { query }: IntrospectContext,
  note: LogIgnored,
): Promise<ReadonlyMap<TableDocument, EnumValues>> => {
  const found = new Map<TableDocument, EnumValues>();
  for (const table of document.tables) {
    if (table.raw["is_enum"] !== true) continue;
    const relation = relationOf(model, table.name);
    if (relation === undefined) continue;
    const logIgnored = (reason: string): void =>
      note(`table ${relation.name}: it cannot be an enum table: ${reason}`, { type: "enum_table", of: table.name });
    const columns = enumColumns(model, relation);
    if (typeof columns === "string") {
      logIgnored(columns);
      continue;
    }
    const comment = columns.comment === undefined ? sql`null::text` : ident(columns.comment);
    const rows = await query<{ key: string; comment: string | null }>(
      sql`select ${ident(columns.key)} as key, ${comment} as comment from ${ident(relation.schema, relation.name)} order by 1`,
    );
    const bad = rows.find(
      (row) => !ENUM_NAME.test(row.key) || row.key.startsWith("__") || ["true", "false", "null"].includes(row.key),
    );
    if (rows.length === 0) logIgnored("it has no rows");
    else if (bad !== undefined) logIgnored(`"${bad.key}" is not a valid GraphQL enum value`);
    else found.set(table, rows);
  }
  return found;
};

/** @returns the reason why the table cannot be an enum, if any */
const enumColumns = (
  model: Model,
  relation: Relation,
): { readonly key: string; readonly comment: string | undefined } | string => {
  const [key, ...more] = relation.primaryKey;
  if (key === undefined || more.length > 0) return "its primary key is not one column";
  const isText = (name: string): boolean => {
    const column = columnOf(relation, name);
    return column !== undefined && model.types.get(column.type)?.name === "text";
  };
  const mayRead =
    mayUseSchema(model, model.loginRole, relation.schema) &&
    relation.columns.every((column) => mayUseColumn(model, model.loginRole, relation, column, "select"));
  if (!mayRead) return "the login role may not read it";
  if (!isText(key)) return "its primary key is not of type text";
  const others = relation.columns.filter((column) => column.name !== key);
  if (others.length > 1) return "it has more than two columns";
  const [comment] = others;
  return comment === undefined || isText(comment.name)
    ? { key, comment: comment?.name }
    : "its second column is not of type text";
};

/** Applies permissions to plans, for GraphQL and, if the option is set, for REST. @rule G-PRM-7 … G-PRM-12 */
export const metadataPermissions = definePlugin({
  name: "metadata-permissions",
  requires: ["metadata"],
  apply: (hooks, context) => {
    if (context.options.metadata === undefined) return;
    hooks.transformPlan.tap("metadata-permissions", (plan, { model, session, surface, envelope, options }) => {
      const isRest = surface === "rest";
      if ((isRest && !options.metadataPermissionsForRest) || (session.isAdmin && session.role === "admin")) return plan;
      const part = model.parts["metadata"] as MetadataPart | undefined; // only the plugin above writes it
      const ofRole = part?.permissions.get(session.role);
      if (part === undefined || ofRole === undefined) {
        // the session is older than a reload that removed the role; it must not get the rights of the login role
        if (session.databaseRole === undefined) throw roleGone(session.role);
        return plan;
      }
      const mayCall = mayCallOf(part.functionRights, session.role, options.inferFunctionPermissions);
      return applyPermissions(plan, {
        model,
        ofTable: permissionsOf(ofRole),
        isBackend: session.isBackend === true,
        checksNames: isRest,
        checksAfter: options.checksAfterStatement,
        location: envelope.location ?? [],
        mayCall,
        isNamed: part.isNamed,
      });
    });
  },
});
