/** Limits by role: from the option `apiLimits`, then from the metadata's `api_limits`, both in Hasura's format. */
import {
  type Json,
  type JsonObject,
  type Model,
  type PluginContext,
  type ResolvedOptions,
  type Session,
} from "../../core/index.ts";
import { getMetadataFacts } from "../metadata/api.ts";
import { readMember, readObjectOrEmpty } from "../shared/json-values.ts";

/** Limits the requests of all callers with equal values of `keys`. */
interface RateLimit {
  readonly perMinute: number;
  readonly keys: readonly string[];
}

const isCount = (value: Json | undefined): value is number => typeof value === "number" && value > 0;

const parseRate = (value: Json | undefined): RateLimit | undefined => {
  const perMinute = readMember(value, "max_reqs_per_min");
  if (!isCount(perMinute)) return undefined;
  const unique = readMember(value, "unique_params") ?? [];
  const names = (Array.isArray(unique) ? unique : [unique]).map(String);
  return { perMinute, keys: names.map((name) => (name.toUpperCase() === "IP" ? "address" : name)) };
};

/** Returns the limit of the role, or else the global limit. */
const findDocumentLimit = (document: JsonObject, kind: string, role: string): Json | undefined => {
  const limit = readMember(document, kind);
  return readMember(readMember(limit, "per_role"), role) ?? readMember(limit, "global");
};

/** A kind of limit: the plugin that applies it, and the setting with limits by role, which takes precedence over
 *  `api_limits`. */
interface LimitKind {
  readonly plugin: string;
  readonly setting?: "rateLimits" | "rowLimits" | "costLimits" | "estimatedRowLimits";
}

/** The kinds of limits whose value is a number. */
type CountKind =
  | "depth_limit"
  | "node_limit"
  | "batch_limit"
  | "time_limit"
  | "alias_limit"
  | "root_field_limit"
  /** The largest number of rows of each list. */
  | "row_limit"
  /** The planner's estimated cost, summed over the statements of a request. */
  | "cost_limit"
  | "estimated_row_limit";

const UNKNOWN_KIND: LimitKind = { plugin: "api-limits" };

/** The kinds of `api_limits`. Hasura has the first five. */
const KINDS: ReadonlyMap<string, LimitKind> = new Map<string, LimitKind>([
  ["depth_limit", { plugin: "api-limits" }],
  ["node_limit", { plugin: "api-limits" }],
  ["batch_limit", { plugin: "api-limits" }],
  ["time_limit", { plugin: "api-limits" }],
  ["rate_limit", { plugin: "rate-limits", setting: "rateLimits" }],
  ["alias_limit", { plugin: "api-limits" }],
  ["root_field_limit", { plugin: "api-limits" }],
  ["row_limit", { plugin: "row-limits", setting: "rowLimits" }],
  ["cost_limit", { plugin: "cost-limits", setting: "costLimits" }],
  ["estimated_row_limit", { plugin: "cost-limits", setting: "estimatedRowLimits" }],
]);

const isRate = (value: Json | undefined): boolean => parseRate(value) !== undefined;

/** Lists the mistakes in the limits that the plugin applies. The plugin `api-limits` also reports unknown kinds. */
const findDocumentErrors = (document: JsonObject, plugin: string): readonly string[] => {
  const errors: string[] = [];
  for (const [kind, value] of Object.entries(document)) {
    if (kind === "disabled" || (KINDS.get(kind) ?? UNKNOWN_KIND).plugin !== plugin) continue;
    if (!KINDS.has(kind)) {
      errors.push(`${kind}: unknown limit; ignored`);
      continue;
    }
    const isValid = kind === "rate_limit" ? isRate : isCount;
    const { global, per_role: perRole } = readObjectOrEmpty(value);
    if (global !== undefined && !isValid(global)) errors.push(`${kind}.global: not a limit; ignored`);
    for (const [role, limit] of Object.entries(readObjectOrEmpty(perRole)))
      if (!isValid(limit)) errors.push(`${kind}.per_role.${role}: not a limit; ignored`);
  }
  return errors;
};

const readCount = (value: Json | undefined): number | undefined => (isCount(value) ? value : undefined);

/** Returns whether the caller is an administrator without another role. No limits apply to such a caller. */
const isUnlimited = ({ isAdmin, role }: Session): boolean => isAdmin && role === "admin";

export interface LimitsByRole {
  /** Returns the limit of the caller, such as the one of `depth_limit`. Undefined without a limit. */
  findLimit(session: Session, kind: CountKind): number | undefined;
  findRateLimit(session: Session): RateLimit | undefined;
  /** True if any role may have a limit of these kinds. */
  readonly isUsed: boolean;
}

/** Creates the reader of the limits that the plugin applies. Logs mistakes in these limits after each load of the
 *  model. */
export const createRoleLimits = (context: PluginContext, plugin: string): LimitsByRole => {
  /** Returns the documents with limits. The first one that has a limit applies. */
  const listDocuments = (): readonly JsonObject[] => {
    const model = findModel(context);
    return [context.options.apiLimits ?? {}, (model && getMetadataFacts(model)["metadata-limits"]) ?? {}];
  };

  const findInSetting = ({ role }: Session, kind: string): number | undefined => {
    const setting = KINDS.get(kind)?.setting;
    const limits = setting && context.options[setting];
    return readCount(readMember(limits, role) ?? readMember(limits, "*"));
  };

  const findInDocuments = <Value>(
    { role }: Session,
    kind: string,
    read: (value: Json | undefined) => Value | undefined,
  ): Value | undefined => {
    for (const document of listDocuments()) {
      if (readMember(document, "disabled") === true) continue;
      const value = read(findDocumentLimit(document, kind, role));
      if (value !== undefined) return value;
    }
    return undefined;
  };

  context.onModel(() => {
    for (const document of listDocuments())
      for (const problem of findDocumentErrors(document, plugin)) context.logger.warn(`api_limits: ${problem}`);
  });

  return {
    findLimit: (session, kind) =>
      isUnlimited(session) ? undefined : (findInSetting(session, kind) ?? findInDocuments(session, kind, readCount)),
    findRateLimit: (session) => {
      if (isUnlimited(session)) return undefined;
      const perMinute = findInSetting(session, "rate_limit");
      if (perMinute === undefined) return findInDocuments(session, "rate_limit", parseRate);
      return { perMinute, keys: context.options.rateLimitBy };
    },
    get isUsed() {
      const documents = listDocuments();
      return [...KINDS].some(
        ([kind, limitKind]) =>
          limitKind.plugin === plugin &&
          (hasSetting(context.options, limitKind) ||
            documents.some((document) => readMember(document, kind) !== undefined)),
      );
    },
  };
};

const hasSetting = (options: ResolvedOptions, { setting }: LimitKind): boolean =>
  setting !== undefined && options[setting] !== undefined;

const findModel = (context: PluginContext): Model | undefined => {
  try {
    return context.model();
  } catch {
    return undefined; // no model is loaded yet
  }
};

/** Returns whether the settings or the metadata may contain limits. */
export const mayHaveLimits = (options: ResolvedOptions): boolean =>
  options.apiLimits !== undefined ||
  options.metadata !== undefined ||
  [...KINDS.values()].some((kind) => hasSetting(options, kind));
