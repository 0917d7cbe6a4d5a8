/** Adds the root fields of other GraphQL APIs: `{ albums { title } countries { code } }`. */
import {
  getErrorMessage,
  definePlugin,
  defineService,
  isJsonObject,
  memoize,
  buildNameKey,
  type Json,
  type Model,
  type Plugin,
  type PluginContext,
} from "../../../core/index.ts";
import {
  graphqlService,
  type GqlBuild,
  type GqlField,
  type GqlFieldContext,
  type GqlFields,
  type GqlRootName,
} from "../../graphql/api.ts";
import { createProblemReport, getMetadataFacts, METADATA_PROBLEMS } from "../../metadata/api.ts";
import { remoteSchemaControlService } from "../api.ts";
import type { LocalNames } from "./schema/conflicts.ts";
import { convertRemoteSchema, readDefinition, type RemoteDefinition, type RemoteSchema } from "./schema/definition.ts";
import { createControl } from "./schema-control.ts";
import { RemoteSchemaProblem } from "./errors.ts";
import { buildJoinField } from "./relationships/join-fields.ts";
import { createLinkedFields } from "./relationships/linked-types.ts";
import { matchRelationships, type RelationshipsByTable } from "./relationships/relationships.ts";
import { matchTypeRelationships, type RelationshipsByType } from "./relationships/type-relationships.ts";
import { createReader } from "./schema/introspection.ts";
import { createRemoteBuilder, findRoleSchema, type Remote, type ReportProblem } from "./remotes.ts";
import { corsAllowedOrigins } from "../../shared/settings.ts";
import { remoteSchemaSettings } from "./settings.ts";
import { loadWrapTools } from "./schema/wrap-tools.ts";
import type { RemoteRoleSchema } from "./schema/role-schema.ts";

/** The service by which `remoteSchemas` passes the remote schemas of code to the plugin that serves them. */
const ownRemoteSchemas = defineService<readonly RemoteDefinition[]>("remote-schemas");

const PART = "remote-schemas";
const ROOTS: Readonly<Partial<Record<GqlFieldContext["scope"], GqlRootName>>> = {
  query_root: "query",
  mutation_root: "mutation",
  subscription_root: "subscription",
};
const NO_SOURCE = { name: "default", tables: [] };

/** The part of the model that this plugin adds. */
interface RemotePart {
  /** All remote schemas, including those that cannot be served. */
  readonly definitions: readonly RemoteDefinition[];
  readonly remotes: readonly Remote[];
  readonly relationships: RelationshipsByTable;
  readonly typeRelationships: ReadonlyMap<Remote, RelationshipsByType>;
  readonly parents: ReadonlyMap<string, readonly string[]>;
}

// Only the tap below writes the part.
const getPart = (model: Model): RemotePart | undefined => model.pluginFacts[PART] as RemotePart | undefined;

const readMetadataDefinitions = (
  schemas: readonly Json[],
  knownNames: ReadonlySet<string>,
  report: ReportProblem,
): readonly RemoteDefinition[] => {
  const names = new Set(knownNames);
  return schemas.flatMap((rawEntry) => {
    const name = isJsonObject(rawEntry) ? rawEntry["name"] : undefined;
    const label = typeof name === "string" ? name : "";
    try {
      if (!isJsonObject(rawEntry) || label === "") throw new RemoteSchemaProblem("it has no name");
      if (names.has(label)) throw new RemoteSchemaProblem("another remote schema has that name");
      names.add(label);
      return [readDefinition(label, rawEntry)];
    } catch (error) {
      if (!(error instanceof RemoteSchemaProblem)) throw error;
      report({ type: "remote_schema", name: label }, error.message);
      return [];
    }
  });
};

/** Returns the names of tables and functions in the metadata, or of all relations without metadata. */
const findLocalNames = (context: PluginContext, model: Model): LocalNames => {
  const scalars = new Set<string>();
  for (const { kind, name } of model.types.values()) if (kind !== "composite") scalars.add(name);
  const { "metadata-native": native } = getMetadataFacts(model);
  if (native !== undefined) return { ...native.takenNames, scalars };
  const names = context.use(graphqlService)?.createNames({});
  const types = [...model.relations.values()].flatMap(
    ({ name }) => names?.typeName({ text: name, isCustom: false }) ?? [],
  );
  return { roots: new Set(), types: new Set(types), scalars };
};

/** Serves the remote schemas of the metadata and of code as fields of the GraphQL surface. @rule X-RMT-1 … X-RMT-10 */
export const remoteSchemaFields = definePlugin({
  name: "remote-schema-fields",
  settings: [corsAllowedOrigins, ...remoteSchemaSettings],
  requires: ["webhooks", "metadata-loader", "catalog-introspection", "graphql-queries"],
  before: ["metadata"], // that tap reports the metadata problems
  apply: (hooks, context) => {
    const reader = createReader(context);
    const buildRemotes = createRemoteBuilder(context, reader);
    hooks.introspect.tapPromise("remote-schema-fields", async (model, introspection) => {
      const codeDefinitions = context.use(ownRemoteSchemas) ?? [];
      const { "metadata-remote-schemas": metadata } = getMetadataFacts(model);
      const { schemas = [], relationships = [], inheritedRoles = [], source = NO_SOURCE } = metadata ?? {};
      const { problems, report: reportProblem } = createProblemReport(model, introspection);
      const report: ReportProblem = (problem, reason) => {
        const { name, role } = problem;
        const permission = role === undefined ? "" : `: permission for role ${role}`;
        reportProblem(problem, `remote schema ${name}${permission}`, reason);
      };
      const definitions = [
        ...codeDefinitions,
        ...readMetadataDefinitions(schemas, new Set(codeDefinitions.map(({ name }) => name)), report),
      ];
      const remotes =
        definitions.length === 0 ? [] : await buildOrReport(definitions, findLocalNames(context, model), report);
      const part: RemotePart = {
        definitions,
        remotes,
        relationships: matchRelationships(relationships, model, remotes, ({ table }, name, reason) =>
          reportProblem(
            { type: "remote_relationship", owner: table, name, detail: reason },
            `table ${table.name}: remote relationship ${name}`,
            reason,
          ),
        ),
        typeRelationships: matchTypeRelationships(
          schemas,
          { model, remotes, source },
          (remote, typeName, name, reason) =>
            reportProblem(
              {
                type: "remote_schema_remote_relationship",
                remoteType: { remote, typeName },
                name,
                detail: reason,
              },
              `remote schema ${remote}: type ${typeName}: remote relationship ${name}`,
              reason,
            ),
        ),
        parents: new Map(inheritedRoles.map(({ role, parents }) => [role, parents])),
      };
      return {
        ...model,
        pluginFacts: {
          ...model.pluginFacts,
          [PART]: part,
          ...(metadata !== undefined && { [METADATA_PROBLEMS]: problems }),
        },
      };
    });

    /** Without the packages for remote schemas, those of the metadata are inconsistent. */
    const buildOrReport = async (
      definitions: readonly RemoteDefinition[],
      names: LocalNames,
      report: ReportProblem,
    ): Promise<readonly Remote[]> => {
      try {
        return await buildRemotes(await loadWrapTools(), definitions, names, report);
      } catch (error) {
        if (context.use(ownRemoteSchemas) !== undefined) throw error;
        const reason = getErrorMessage(error);
        for (const { name } of definitions) report({ type: "remote_schema", name }, reason);
        return [];
      }
    };

    const findVisibleSchema = (
      remote: Remote,
      { parents }: RemotePart,
      { access }: GqlBuild,
    ): RemoteRoleSchema | undefined => {
      const { role, isAdmin = false } = access;
      const seesAll = isAdmin || (!context.options.enableRemoteSchemaPermissions && role !== "");
      return seesAll ? remote.adminSchema : findRoleSchema(remote, role, parents);
    };

    /** Returns the function that adds relationships to the fields of the role schema. */
    const getLinker = memoize((build: GqlBuild) => {
      const part = getPart(build.schema.model);
      return createLinkedFields({
        build,
        relationships: part?.typeRelationships ?? new Map(),
        findRoleSchema: (remote) => part && findVisibleSchema(remote, part, build),
      });
    });

    const buildRelationshipFields = (
      part: RemotePart,
      { relation, build }: GqlFieldContext,
    ): readonly (readonly [string, GqlField])[] =>
      (relation && part.relationships.get(buildNameKey(relation)))?.flatMap((relationship) => {
        const { remote, name } = relationship;
        const roleSchema = findVisibleSchema(remote, part, build);
        const field = roleSchema && buildJoinField(roleSchema, relationship);
        return field === undefined
          ? []
          : [[name, getLinker(build)(remote, roleSchema as RemoteRoleSchema)(field)] as const];
      }) ?? [];

    hooks.buildGqlField.tap("remote-schema-fields", (fields: GqlFields, field: GqlFieldContext) => {
      const { scope, model, build } = field;
      const part = getPart(model);
      if (part === undefined || part.remotes.length === 0) return fields;
      if (scope === "row") {
        const relationshipFields = buildRelationshipFields(part, field);
        return relationshipFields.length === 0 ? fields : { ...Object.fromEntries(relationshipFields), ...fields };
      }
      const root = ROOTS[scope];
      if (root === undefined) return fields;
      const remoteFields = part.remotes.flatMap((remote) => {
        const roleSchema = findVisibleSchema(remote, part, build);
        if (roleSchema === undefined) return [];
        const link = getLinker(build)(remote, roleSchema);
        return Object.entries(roleSchema.fields[root]).map(([name, rootField]) => [name, link(rootField)] as const);
      });
      return { ...Object.fromEntries(remoteFields), ...fields }; // a field of a table takes precedence
    });

    context.offer(
      remoteSchemaControlService,
      createControl(context, reader, () => getPart(context.model())?.definitions ?? []),
    );
  },
});

/** Adds remote schemas by name. Their fields are those of the plugin `remote-schema-fields`. @rule X-RMT-2 */
export const remoteSchemas = (schemas: Readonly<Record<string, RemoteSchema>>): Plugin =>
  definePlugin({
    name: "remote-schemas",
    requires: ["remote-schema-fields"],
    apply: (_hooks, context) =>
      context.offer(
        ownRemoteSchemas,
        Object.entries(schemas).map(([name, remote]) => convertRemoteSchema(name, remote)),
      ),
  });

export type { RemoteSchema } from "./schema/definition.ts";
