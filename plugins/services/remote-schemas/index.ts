/** Adds the root fields of other GraphQL APIs: `{ albums { title } countries { code } }`. */
import {
  definePlugin,
  isJsonObject,
  type Json,
  type Model,
  type Plugin,
  type PluginContext,
} from "../../../core/index.ts";
import { graphqlService, type GqlFieldContext, type GqlFields } from "../../graphql/api.ts";
import type { MetadataNative, MetadataProblem, MetadataRemoteSchemas } from "../../metadata/api.ts";
import { remoteSchemaControlService } from "../api.ts";
import type { LocalNames } from "./conflicts.ts";
import { convertRemoteSchema, readDefinition, type RemoteDefinition, type RemoteSchema } from "./definition.ts";
import { createControl } from "./control.ts";
import { RemoteSchemaProblem } from "./errors.ts";
import { createReader } from "./introspection.ts";
import { createRemoteBuilder, findView, type Remote, type ReportProblem } from "./remotes.ts";
import { remoteSchemaSettings } from "./settings.ts";
import { loadWrapTools } from "./tools.ts";
import { ownRemoteSchemas } from "./own.ts";

const PART = "remote-schemas";
const PROBLEMS = "metadata-problems";

/** The part of the model that this plugin adds. */
interface RemotePart {
  /** All remote schemas, including those that cannot be served. */
  readonly definitions: readonly RemoteDefinition[];
  readonly remotes: readonly Remote[];
  readonly parents: ReadonlyMap<string, readonly string[]>;
}

// only the tap below writes the part
const getPart = (model: Model): RemotePart | undefined => model.pluginFacts[PART] as RemotePart | undefined;

const readMetadataDefinitions = (
  schemas: readonly Json[],
  known: ReadonlySet<string>,
  report: ReportProblem,
): readonly RemoteDefinition[] => {
  const names = new Set(known);
  return schemas.flatMap((raw) => {
    const name = isJsonObject(raw) ? raw["name"] : undefined;
    const label = typeof name === "string" ? name : "";
    try {
      if (!isJsonObject(raw) || label === "") throw new RemoteSchemaProblem("it has no name");
      if (names.has(label)) throw new RemoteSchemaProblem("another remote schema has that name");
      names.add(label);
      return [readDefinition(label, raw)];
    } catch (error) {
      if (!(error instanceof RemoteSchemaProblem)) throw error;
      report({ type: "remote_schema", name: label }, error.message);
      return [];
    }
  });
};

/** The names of tables and functions: those of the metadata, or of all relations without metadata. */
const findLocalNames = (context: PluginContext, model: Model): LocalNames => {
  // only the metadata loader writes this part
  const native = model.pluginFacts["metadata-native"] as MetadataNative | undefined;
  if (native !== undefined) return native.takenNames;
  const names = context.use(graphqlService)?.createNames({});
  const types = [...model.relations.values()].flatMap(
    ({ name }) => names?.typeName({ text: name, isCustom: false }) ?? [],
  );
  return { roots: new Set(), types: new Set(types) };
};

/** Serves the remote schemas of the metadata and of code as fields of the GraphQL surface. @rule X-RMT-1 … X-RMT-10 */
export const remoteSchemaFields = definePlugin({
  name: "remote-schema-fields",
  settings: remoteSchemaSettings,
  requires: ["webhooks", "metadata-loader", "catalog-introspection", "graphql-queries"],
  before: ["metadata"], // that tap reports the metadata problems
  apply: (hooks, context) => {
    const reader = createReader(context);
    const buildRemotes = createRemoteBuilder(context, reader);
    hooks.introspect.tapPromise("remote-schema-fields", async (model, { warn }) => {
      const ofCode = context.use(ownRemoteSchemas) ?? [];
      // only the metadata loader writes this part
      const metadata = model.pluginFacts["metadata-remote-schemas"] as MetadataRemoteSchemas | undefined;
      const { schemas = [], inheritedRoles = [] } = metadata ?? {};
      // only metadata plugins write this list
      const problems = [...((model.pluginFacts[PROBLEMS] ?? []) as readonly MetadataProblem[])];
      const report: ReportProblem = (problem, reason) => {
        const { name, role } = problem;
        const what =
          role === undefined ? `remote schema ${name}` : `remote schema ${name}: permission for role ${role}`;
        warn(`metadata: ${what}: ${reason}; ignored`);
        problems.push({ ...problem, reason: `${what}: ${reason}` });
      };
      const definitions = [
        ...ofCode,
        ...readMetadataDefinitions(schemas, new Set(ofCode.map(({ name }) => name)), report),
      ];
      const remotes =
        definitions.length === 0 ? [] : await buildOrReport(definitions, findLocalNames(context, model), report);
      const part: RemotePart = {
        definitions,
        remotes,
        parents: new Map(inheritedRoles.map(({ role, parents }) => [role, parents])),
      };
      return {
        ...model,
        pluginFacts: {
          ...model.pluginFacts,
          [PART]: part,
          ...(metadata !== undefined && { [PROBLEMS]: problems }),
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
        const reason = error instanceof Error ? error.message : String(error);
        for (const { name } of definitions) report({ type: "remote_schema", name }, reason);
        return [];
      }
    };

    hooks.buildGqlField.tap("remote-schema-fields", (fields: GqlFields, { scope, model, build }: GqlFieldContext) => {
      const root = scope === "query_root" ? "query" : scope === "mutation_root" ? "mutation" : undefined;
      const part = getPart(model);
      if (root === undefined || part === undefined || part.remotes.length === 0) return fields;
      const { role, databaseRole, isBackend } = build.access;
      // a role of the database or of the metadata may be called `admin` too
      const isAdmin = role === "admin" && databaseRole === undefined && isBackend === undefined;
      const seesAll = isAdmin || (!context.options.enableRemoteSchemaPermissions && role !== "");
      const views = part.remotes.flatMap((remote) =>
        seesAll ? remote.whole : (findView(remote, role, part.parents) ?? []),
      );
      const added = Object.assign({}, ...views.map((view) => view.fields[root])) as GqlFields;
      return { ...added, ...fields }; // a field of a table takes precedence
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

export type { RemoteSchema } from "./definition.ts";
