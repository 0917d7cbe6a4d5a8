/** The interface of the metadata for other plugins: types and services. */
import { defineService, type IntrospectContext, type Json, type Model, type QualifiedName } from "../../core/index.ts";

// They read the unparsed parts of the metadata below.
export { readListOrEmpty, readObjectOrEmpty, readText } from "../shared/json-values.ts";

/** The named queries, and the objects that refer to them. @experimental */
export interface MetadataQueries {
  /** The documents by the name of their collection and their own name. */
  readonly collections: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** The collections of the allow list. An entry with `roles` applies only to these roles. */
  readonly allowed: readonly { readonly collection: string; readonly roles?: readonly string[] }[];
  readonly endpoints: readonly MetadataEndpoint[];
}

/** A REST endpoint of the metadata. @experimental */
export interface MetadataEndpoint {
  readonly name: string;
  /** The path of the endpoint below `/api/rest/`, such as `people/:id`. */
  readonly url: string;
  readonly methods: readonly string[];
  readonly document: string;
}

/** The unparsed `api_limits` of the metadata. @experimental */
export type MetadataLimits = Readonly<Record<string, Json>>;

/** The unparsed `native_queries` and `logical_models` of the served source. @experimental */
export interface MetadataNative {
  readonly queries: readonly Json[];
  readonly models: readonly Json[];
  /** The GraphQL names of root fields and types that the tables and functions of the source use. */
  readonly takenNames: { readonly roots: ReadonlySet<string>; readonly types: ReadonlySet<string> };
}

/** The unparsed `remote_schemas` and the parts of the metadata that their relationships and permissions refer to.
 *  @experimental */
export interface MetadataRemoteSchemas {
  readonly schemas: readonly Json[];
  readonly relationships: readonly MetadataRemoteRelationship[];
  readonly inheritedRoles: readonly { readonly role: string; readonly parents: readonly string[] }[];
  readonly source: { readonly name: string; readonly tables: readonly QualifiedName[] };
}

/** An unparsed entry of `remote_relationships` of a table. @experimental */
export interface MetadataRemoteRelationship {
  readonly table: QualifiedName;
  readonly raw: Json;
  /** The names that the metadata gives to other fields of the table. */
  readonly otherNames: ReadonlySet<string>;
}

/** An unparsed event trigger of a table. @experimental */
export interface MetadataEventTrigger {
  readonly table: QualifiedName;
  readonly raw: Json;
}

/** The unparsed `cron_triggers` of the metadata. @experimental */
export type MetadataCronTriggers = readonly Json[];

/** The unparsed `actions` and `custom_types` of the metadata. @experimental */
export interface MetadataActions {
  readonly actions: readonly Json[];
  readonly customTypes: Readonly<Record<string, Json>>;
  /** The roles that inherit from others. */
  readonly inheritedRoles: readonly { readonly role: string; readonly parents: readonly string[] }[];
  /** The GraphQL names of root fields and types that the tables and functions of the source use. */
  readonly takenNames: MetadataNative["takenNames"];
  /** The tracked tables. */
  readonly tables: readonly QualifiedName[];
}

/** An object of the metadata. @experimental */
export interface MetadataObject {
  readonly type:
    | "table"
    | "enum_table"
    | "object_relation"
    | "array_relation"
    | "computed_field"
    | "select_permission"
    | "insert_permission"
    | "update_permission"
    | "delete_permission"
    | "function"
    | "inherited_role"
    | "native_query"
    | "logical_model"
    | "rest_endpoint"
    | "event_trigger"
    | "cron_trigger"
    | "remote_schema"
    | "remote_schema_permission"
    | "remote_relationship"
    | "remote_schema_remote_relationship"
    | "action"
    | "custom_types";
  /** The table that contains the object, or the table or function itself. */
  readonly owner?: QualifiedName;
  /** The name of the object within the table, or the role of a permission. */
  readonly name?: string;
  /** The role of a permission on an object outside of tables, which `name` names. */
  readonly role?: string;
  /** The type of a remote schema that has the relationship. */
  readonly remoteType?: { readonly remote: string; readonly typeName: string };
}

/** An object that does not fit the database and is ignored, wholly or in part. @rule G-MET-12 @experimental */
export interface MetadataProblem extends MetadataObject {
  readonly reason: string;
  /** The reason without the location, in the wording of the dialect if the dialect has one. */
  readonly detail?: string;
}

/** The name of the list of problems in `model.pluginFacts`. @experimental */
export const METADATA_PROBLEMS = "metadata-problems";

/** The members of `model.pluginFacts` that `metadata-loader` adds. All are undefined without metadata. @experimental */
export interface MetadataFacts {
  readonly "metadata-queries"?: MetadataQueries;
  readonly "metadata-limits"?: MetadataLimits;
  readonly "metadata-native"?: MetadataNative;
  readonly "metadata-remote-schemas"?: MetadataRemoteSchemas;
  readonly "metadata-event-triggers"?: readonly MetadataEventTrigger[];
  readonly "metadata-cron-triggers"?: MetadataCronTriggers;
  readonly "metadata-actions"?: MetadataActions;
  /** Another plugin adds its problems before `metadata` is applied. */
  readonly [METADATA_PROBLEMS]?: readonly MetadataProblem[];
}

/** Returns the facts of the metadata, which only metadata plugins write. @experimental */
export const getMetadataFacts = ({ pluginFacts }: Model): MetadataFacts => pluginFacts as MetadataFacts;

/** Returns a copy of the list of problems, to which a plugin adds. @experimental */
export const copyProblems = (model: Model): MetadataProblem[] => [
  ...(getMetadataFacts(model)[METADATA_PROBLEMS] ?? []),
];

/** Reports an object that a plugin ignores. `subject` names the object in the log. @experimental */
export type ReportMetadataProblem = (problem: Omit<MetadataProblem, "reason">, subject: string, reason: string) => void;

/** Returns the list of problems, and the function that logs a problem and adds it to the list. @experimental */
export const createProblemReport = (
  model: Model,
  { warn }: Pick<IntrospectContext, "warn">,
): { readonly problems: readonly MetadataProblem[]; readonly report: ReportMetadataProblem } => {
  const problems = copyProblems(model);
  return {
    problems,
    report: (problem, subject, reason) => {
      warn(`metadata: ${subject}: ${reason}; ignored`);
      problems.push({ ...problem, reason: `${subject}: ${reason}` });
    },
  };
};

/** The source of the metadata, for plugins that edit it. @experimental */
export interface MetadataSource {
  /** The path of the metadata's file or folder. Undefined if the application passed an object. */
  readonly path?: string;
  /** Reads the current metadata and expands all includes. `files` lists the files that were read. */
  read(): Promise<{ readonly raw: Json; readonly files: readonly string[] }>;
  /** Makes later loads of the model use the proposal instead. A call with `undefined` ends this. `accept` is called
   *  with the problems before the model takes effect. If `accept` throws, the load fails and the previous model
   *  stays. */
  propose(proposal: MetadataProposal | undefined): void;
}

/** Metadata that is tried before it takes effect. @experimental */
export interface MetadataProposal {
  readonly raw: Json;
  accept(problems: readonly MetadataProblem[]): void;
}

/** The service by which plugins edit the metadata. `metadata-loader` provides it if the option `metadata` is set.
 *  @experimental */
export const metadataSourceService = defineService<MetadataSource>("metadata-source");
