/** Limits by role: from the option `apiLimits`, then from the metadata's `api_limits`, both in Hasura's format. */
import {
  isJsonObject,
  type Json,
  type JsonObject,
  type Model,
  type PluginContext,
  type ResolvedOptions,
  type Session,
} from "../../core/index.ts";
import { getMetadataFacts } from "../metadata/api.ts";

/** Limits the requests of all callers with equal values of `keys`. */
interface RateLimit {
  readonly perMinute: number;
  readonly keys: readonly string[];
}

/** The limits of one role. A missing member means that the role has no such limit. */
export interface RoleLimits {
  readonly depth?: number;
  readonly nodes?: number;
  readonly batch?: number;
  readonly aliases?: number;
  readonly rootFields?: number;
  /** The largest number of rows of each list. */
  readonly rows?: number;
  /** The planner's estimated cost, summed over the statements of a request. */
  readonly cost?: number;
  readonly estimatedRows?: number;
  readonly seconds?: number;
  readonly rate?: RateLimit;
}

const readObject = (value: Json | undefined): JsonObject | undefined => (isJsonObject(value) ? value : undefined);

const readOwnValue = (object: JsonObject | undefined, key: string): Json | undefined =>
  object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;

const isCount = (value: Json | undefined): value is number => typeof value === "number" && value > 0;

const parseRate = (value: Json | undefined): RateLimit | undefined => {
  const object = readObject(value);
  const perMinute = readOwnValue(object, "max_reqs_per_min");
  if (!isCount(perMinute)) return undefined;
  const unique = readOwnValue(object, "unique_params") ?? [];
  const names = (Array.isArray(unique) ? unique : [unique]).map(String);
  return { perMinute, keys: names.map((name) => (name.toUpperCase() === "IP" ? "address" : name)) };
};

/** Returns the limit of the role, or else the global limit. */
const findDocumentLimit = (document: JsonObject, kind: string, role: string): Json | undefined => {
  const limit = readObject(readOwnValue(document, kind));
  return readOwnValue(readObject(readOwnValue(limit, "per_role")), role) ?? readOwnValue(limit, "global");
};

/** A kind of limit: the plugin that applies it, and the setting with limits by role, which takes precedence over
 *  `api_limits`. */
interface LimitKind {
  readonly plugin: string;
  readonly setting?: "rateLimits" | "rowLimits" | "costLimits" | "estimatedRowLimits";
}

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
    const { global, per_role: perRole } = readObject(value) ?? {};
    if (global !== undefined && !isValid(global)) errors.push(`${kind}.global: not a limit; ignored`);
    for (const [role, limit] of Object.entries(readObject(perRole) ?? {}))
      if (!isValid(limit)) errors.push(`${kind}.per_role.${role}: not a limit; ignored`);
  }
  return errors;
};

const readCount = (value: Json | undefined): number | undefined => (isCount(value) ? value : undefined);

const readLimits = (documents: readonly JsonObject[], options: ResolvedOptions, role: string) => {
  const enabledDocuments = documents.filter((document) => readOwnValue(document, "disabled") !== true);
  const readFromDocuments = <Value>(
    kind: string,
    read: (value: Json | undefined) => Value | undefined,
  ): Value | undefined => {
    for (const document of enabledDocuments) {
      const value = read(findDocumentLimit(document, kind, role));
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const readFromSetting = (kind: string): number | undefined => {
    const setting = KINDS.get(kind)?.setting;
    const limits = setting && options[setting];
    return readCount(readOwnValue(limits, role) ?? readOwnValue(limits, "*"));
  };
  const readLimit = (kind: string): number | undefined => readFromSetting(kind) ?? readFromDocuments(kind, readCount);
  const perMinute = readFromSetting("rate_limit");
  const rate =
    perMinute === undefined ? readFromDocuments("rate_limit", parseRate) : { perMinute, keys: options.rateLimitBy };
  const limits: { [Key in keyof RoleLimits]: RoleLimits[Key] | undefined } = {
    depth: readLimit("depth_limit"),
    nodes: readLimit("node_limit"),
    batch: readLimit("batch_limit"),
    aliases: readLimit("alias_limit"),
    rootFields: readLimit("root_field_limit"),
    rows: readLimit("row_limit"),
    cost: readLimit("cost_limit"),
    estimatedRows: readLimit("estimated_row_limit"),
    seconds: readLimit("time_limit"),
    rate,
  };
  return limits as RoleLimits; // an undefined member counts as missing
};

const NO_LIMITS: RoleLimits = {};

/** Returns whether the caller is an administrator without another role. No limits apply to such a caller. */
const isUnlimited = ({ isAdmin, role }: Session): boolean => isAdmin && role === "admin";

interface LimitsByRole {
  getLimits(session: Session): RoleLimits;
  /** True if any role may have a limit of these kinds. */
  readonly isUsed: boolean;
}

/** Creates the reader of the limits that the plugin applies. Logs mistakes in these limits after each load of the
 *  model. */
export const createRoleLimits = (context: PluginContext, plugin: string): LimitsByRole => {
  let model: Model | undefined;
  let options: ResolvedOptions | undefined;
  let documents: readonly JsonObject[] = [];
  const limitsByRole = new Map<string, RoleLimits>();

  const refresh = (): void => {
    const current = findModel(context);
    if (current === model && context.options === options) return;
    model = current;
    options = context.options;
    limitsByRole.clear();
    documents = [options.apiLimits ?? {}, (model && getMetadataFacts(model)["metadata-limits"]) ?? {}];
  };
  context.onModel(() => {
    refresh();
    for (const document of documents)
      for (const problem of findDocumentErrors(document, plugin)) context.logger.warn(`api_limits: ${problem}`);
  });

  return {
    getLimits: (session) => {
      if (isUnlimited(session)) return NO_LIMITS;
      refresh();
      let limits = limitsByRole.get(session.role);
      if (limits === undefined) {
        if (limitsByRole.size >= MAX_ROLES) limitsByRole.clear();
        limits = readLimits(documents, context.options, session.role);
        limitsByRole.set(session.role, limits);
      }
      return limits;
    },
    get isUsed() {
      refresh();
      return [...KINDS].some(
        ([kind, limitKind]) =>
          limitKind.plugin === plugin &&
          (hasSetting(context.options, limitKind) ||
            documents.some((document) => readOwnValue(document, kind) !== undefined)),
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

/** The largest number of roles whose limits are cached, because tokens may name any number of roles. */
const MAX_ROLES = 1000;
