/** Adds names, relationships and permissions from Hasura metadata: `METADATA=./metadata`. */
import { resolve } from "node:path";
import {
  getErrorMessage,
  findColumn,
  definePlugin,
  quoteIdentifier,
  mayUseColumn,
  mayUseSchema,
  buildNameKey,
  findRelation,
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
import { readDocument, type MetadataDocument, type TableDocument } from "./document.ts";
import { roleMissing } from "./errors.ts";
import { createFilterReader } from "./filter.ts";
import { readParentRoles } from "./inherit.ts";
import { loadMetadata } from "./load.ts";
import {
  readCustomization,
  buildFunctionEntries,
  matchTables,
  createRelationshipTest,
  type NamedTable,
} from "./names.ts";
import { buildPermissions } from "./build-permissions.ts";
import type { Permissions } from "./permissions.ts";
import { createVisibility } from "./visibility.ts";
import { loaderSettings, metadataSettings } from "./settings.ts";
import { metadataPermissionsForRest } from "../shared/settings.ts";
import { applyPermissions } from "./transform.ts";
import { createFunctionRights, createRoleAccess, createCallTest, type FunctionRights } from "./role-access.ts";
import { findTakenNames } from "./taken-names.ts";
import {
  metadataSourceService,
  copyProblems,
  METADATA_PROBLEMS,
  type MetadataFacts,
  type MetadataProblem,
  type MetadataProposal,
} from "./api.ts";
import { ADDITIONAL_OBJECTS } from "../database/api.ts";
import { GQL_METADATA, graphqlService, type GqlMetadata } from "../graphql/api.ts";
import { readQualifiedName, type LogIgnored, type RawValue } from "./raw-values.ts";
import { readListOrEmpty, readObjectOrEmpty, readText } from "../shared/json-values.ts";

/** The part of the model that the metadata plugins share. */
interface MetadataPart extends GqlMetadata {
  readonly permissions: Permissions;
  readonly functionRights: FunctionRights;
  readonly isNamed: (relationship: Relationship) => boolean;
}

const NO_NAMES = { roots: new Set<string>(), types: new Set<string>() };

const DOCUMENT_PART = "metadata-document";
const METADATA_PROPOSAL = "metadata-proposal";

const createIgnoredPartLogger =
  (warn: IntrospectContext["warn"], problems: MetadataProblem[]): LogIgnored =>
  (message, location) => {
    warn(`metadata: ${message}`);
    if (location !== undefined) problems.push({ ...location, reason: message });
  };

/** Reads Hasura metadata. Reads the files before the catalog, so that tables of schemas that are not exposed are
 *  loaded too. If a file cannot be read, the previous document stays, and the log and `/ready` report it. At the
 *  start, the load fails. @rule G-MET-1 … G-MET-7 */
export const metadataLoader = definePlugin({
  name: "metadata-loader",
  settings: loaderSettings,
  before: ["catalog-introspection"],
  apply: (hooks, context) => {
    const { metadata } = context.options;
    if (metadata === undefined) return;
    let lastDocument: MetadataDocument | undefined;
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
      const logIgnored = createIgnoredPartLogger(warn, problems);
      const currentProposal = proposal;
      const served = findServedKeys(context.registry);
      let document: MetadataDocument;
      try {
        if (currentProposal !== undefined) document = readDocument(currentProposal.raw, logIgnored, served);
        else document = lastDocument = readDocument((await loadMetadata(metadata)).raw, logIgnored, served);
        context.healthProblems.set("metadata", undefined);
      } catch (error) {
        if (lastDocument === undefined || currentProposal !== undefined) throw error;
        document = lastDocument;
        const message = `failed to load the new metadata; keeping the previous metadata: ${getErrorMessage(error)}`;
        logIgnored(message);
        context.healthProblems.set("metadata", message);
      }
      const names = context.use(graphqlService)?.createNames(
        readCustomization(document.customization, () => undefined), // the plugin "metadata" reports its errors
      );
      const takenNames = names === undefined ? NO_NAMES : findTakenNames(names, document.tables, document.functions);
      const additionalObjects = {
        relations: document.tables.map(({ name }) => name),
        routines: listAdditionalRoutines(document),
      };
      const facts: MetadataFacts = {
        "metadata-queries": document.queries,
        "metadata-limits": document.limits,
        "metadata-event-triggers": document.eventTriggers,
        "metadata-cron-triggers": document.cronTriggers,
        "metadata-remote-schemas": {
          schemas: document.remoteSchemas,
          relationships: document.remoteRelationships,
          inheritedRoles: document.inheritedRoles,
          source: { name: document.sourceName, tables: document.tables.map(({ name }) => name) },
        },
        "metadata-native": { ...document.native, takenNames },
        "metadata-actions": {
          ...document.actions,
          inheritedRoles: document.inheritedRoles,
          takenNames,
          tables: document.tables.map(({ name }) => name),
        },
        [METADATA_PROBLEMS]: problems,
      };
      return {
        ...model,
        pluginFacts: {
          ...model.pluginFacts,
          ...facts,
          [DOCUMENT_PART]: document,
          ...(currentProposal === undefined ? {} : { [METADATA_PROPOSAL]: currentProposal }),
          [ADDITIONAL_OBJECTS]: additionalObjects,
        },
      };
    });
  },
});

/** Returns the metadata keys that other plugins of the preset handle. */
const findServedKeys = ({ has }: Registry): readonly string[] => [
  ...(has("trusted-documents") || has("rest-endpoints") ? ["query_collections"] : []),
  ...(has("trusted-documents") ? ["allowlist", "allow_list"] : []),
  ...(has("rest-endpoints") ? ["rest_endpoints"] : []),
  ...(has("events") ? ["event_triggers"] : []),
  ...(has("scheduled-events") ? ["cron_triggers"] : []),
  ...(has("native-queries") ? ["native_queries", "logical_models"] : []),
  ...(has("remote-schema-fields") ? ["remote_schemas", "remote_relationships"] : []),
  ...(has("metadata-actions") ? ["actions", "custom_types"] : []),
  ...(["api-limits", "rate-limits", "row-limits", "cost-limits"].some(has) ? ["api_limits"] : []),
];

const listAdditionalRoutines = (document: MetadataDocument): readonly QualifiedName[] => [
  ...document.functions.map((fn) => fn.name),
  ...document.tables.flatMap((table) =>
    readListOrEmpty(table.raw["computed_fields"]).flatMap(
      (field) => readQualifiedName(readObjectOrEmpty(readObjectOrEmpty(field)["definition"])["function"]) ?? [],
    ),
  ),
];

/** Applies the names and relationships of Hasura metadata. Matches the metadata with the catalog. Consistent
 *  objects are served, and the log reports the other objects with their location. @rule G-MET-8 … G-MET-12 G-PRM-3 */
export const metadata = definePlugin({
  name: "metadata",
  settings: [...metadataSettings, metadataPermissionsForRest],
  requires: ["metadata-loader", "computed-relationships"],
  stage: Stage.late,
  apply: (hooks, context) => {
    if (context.options.metadata === undefined) return;
    hooks.introspect.tapPromise("metadata", async (model, introspection) => {
      // Only the loader writes this part.
      const document = model.pluginFacts[DOCUMENT_PART] as MetadataDocument | undefined;
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
  const problems = copyProblems(model);
  const logIgnored = createIgnoredPartLogger(introspection.warn, problems);
  const enums = await loadEnums(document, model, introspection, logIgnored);
  const match = matchTables(document, model, enums, logIgnored);
  const entries = new Map(match.tables.map((table) => [buildNameKey(table.relation), table.entry]));
  const reader = createFilterReader(match.model, registry, (relation) => entries.get(buildNameKey(relation)));
  const parentRoles = readParentRoles(document, logIgnored);
  // Without the plugin that enforces permissions, grants apply to roles of the metadata too.
  const permissions: Permissions = registry.has("metadata-permissions")
    ? buildPermissions(match.tables, parentRoles, {
        otherRoles: [
          ...(registry.has("native-queries") ? listRoles(document.native.models, "select_permissions") : []),
          ...(registry.has("metadata-actions") ? listRoles(document.actions.actions, "permissions") : []),
          ...(registry.has("remote-schema-fields") ? listRoles(document.remoteSchemas, "permissions") : []),
        ],
        model: match.model,
        reader,
        logIgnored,
      })
    : new Map();
  const functionRights = createFunctionRights(document, parentRoles);
  const part: MetadataPart = {
    customization: readCustomization(document.customization, logIgnored),
    tables: match.tables.map((table: NamedTable) => table.entry),
    functions: buildFunctionEntries(document, match.model, logIgnored),
    introspectionClosedFor: new Set(document.closedForRoles),
    findAccess: createRoleAccess(
      permissions,
      functionRights,
      document.closedForRoles,
      options.inferFunctionPermissions,
    ),
    permissions,
    functionRights,
    isNamed: createRelationshipTest(match.tables),
  };
  const roles = new Map(
    [...permissions].map(([role, rolePermissions]) => [
      role,
      createVisibility(
        rolePermissions,
        match.model,
        createCallTest(functionRights, role, options.inferFunctionPermissions),
      ),
    ]),
  );
  // The loader writes the proposal.
  (model.pluginFacts[METADATA_PROPOSAL] as MetadataProposal | undefined)?.accept(problems);
  return {
    ...match.model,
    pluginFacts: { ...match.model.pluginFacts, [GQL_METADATA]: part, [METADATA_PROBLEMS]: problems },
    loginRoles: new Map([
      ["graphql", roles],
      ...(options.metadataPermissionsForRest ? ([["rest", roles]] as const) : []),
    ]),
  };
};

/** Returns the roles with a permission on one of the objects. They are roles of the metadata, even without a permission
 *  on a table. */
const listRoles = (objects: readonly RawValue[], key: string): readonly string[] =>
  objects
    .flatMap((object) => readListOrEmpty(readObjectOrEmpty(object)[key]))
    .flatMap((entry) => readText(readObjectOrEmpty(entry)["role"]) ?? []);

const ENUM_NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;

type EnumValues = readonly { readonly key: string; readonly comment: string | null }[];

/** Reads the values of enum tables. @rule G-ENM-1 G-ENM-5 */
const loadEnums = async (
  document: MetadataDocument,
  model: Model,
  { query }: IntrospectContext,
  logIgnored: LogIgnored,
): Promise<ReadonlyMap<TableDocument, EnumValues>> => {
  const enumValues = new Map<TableDocument, EnumValues>();
  for (const table of document.tables) {
    if (table.raw["is_enum"] !== true) continue;
    const relation = findRelation(model, table.name);
    if (relation === undefined) continue;
    const logUnusable = (reason: string): void =>
      logIgnored(`table ${relation.name}: it cannot be an enum table: ${reason}`, {
        type: "enum_table",
        owner: table.name,
      });
    const columns = findEnumColumns(model, relation);
    if (typeof columns === "string") {
      logUnusable(columns);
      continue;
    }
    const comment = columns.comment === undefined ? sql`null::text` : quoteIdentifier(columns.comment);
    const rows = await query<{ key: string; comment: string | null }>(
      sql`select ${quoteIdentifier(columns.key)} as key, ${comment} as comment from ${quoteIdentifier(relation.schema, relation.name)} order by 1`,
    );
    const bad = rows.find(
      (row) => !ENUM_NAME.test(row.key) || row.key.startsWith("__") || ["true", "false", "null"].includes(row.key),
    );
    if (rows.length === 0) logUnusable("it has no rows");
    else if (bad !== undefined) logUnusable(`"${bad.key}" is not a valid GraphQL enum value`);
    else enumValues.set(table, rows);
  }
  return enumValues;
};

/** Finds the columns of an enum table's keys and descriptions. @returns the reason why the table cannot be an enum, if
 *  any */
const findEnumColumns = (
  model: Model,
  relation: Relation,
): { readonly key: string; readonly comment: string | undefined } | string => {
  const [key, ...otherKeyColumns] = relation.primaryKey;
  if (key === undefined || otherKeyColumns.length > 0) return "its primary key is not one column";
  const isText = (name: string): boolean => {
    const column = findColumn(relation, name);
    return column !== undefined && model.types.get(column.type)?.name === "text";
  };
  const mayRead =
    mayUseSchema(model, model.loginRole, relation.schema) &&
    relation.columns.every((column) => mayUseColumn(model, model.loginRole, relation, column, "select"));
  if (!mayRead) return "the login role may not read it";
  if (!isText(key)) return "its primary key is not of type text";
  const otherColumns = relation.columns.filter((column) => column.name !== key);
  if (otherColumns.length > 1) return "it has more than two columns";
  const [comment] = otherColumns;
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
      // Only the plugin `metadata` writes this part.
      const part = model.pluginFacts[GQL_METADATA] as MetadataPart | undefined;
      const rolePermissions = part?.permissions.get(session.role);
      if (part === undefined || rolePermissions === undefined) {
        // The session is older than a reload that removed the role. The role must not get the rights of the login role.
        if (session.databaseRole === undefined) throw roleMissing(session.role);
        return plan;
      }
      const mayCall = createCallTest(part.functionRights, session.role, options.inferFunctionPermissions);
      return applyPermissions(plan, {
        model,
        findPermissions: (name) => rolePermissions.get(buildNameKey(name)),
        isBackend: session.isBackend === true,
        checksNames: isRest,
        checksAfterStatement: options.checksAfterStatement,
        location: envelope.location ?? [],
        mayCall,
        isNamed: part.isNamed,
      });
    });
  },
});
