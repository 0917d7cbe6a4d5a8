/** Limits by role: from the option `apiLimits`, then from the metadata's `api_limits`, both in Hasura's format. */
import type { Json, Model, PluginContext, ResolvedOptions, Session } from "../../core/index.ts";
import type { MetadataLimits } from "../metadata/api.ts";

/** Limits the requests of all callers with equal values of `by`. */
export interface RateLimit {
  readonly perMinute: number;
  readonly by: readonly string[];
}

/** The limits of one role. A missing member means that the role has no such limit. */
export interface RoleLimits {
  readonly depth?: number;
  readonly nodes?: number;
  readonly batch?: number;
  readonly aliases?: number;
  readonly rootFields?: number;
  /** The rows of each list. */
  readonly rows?: number;
  /** The planner's estimated cost, summed over the statements of a request. */
  readonly cost?: number;
  readonly estimatedRows?: number;
  readonly seconds?: number;
  readonly rate?: RateLimit;
}

type JsonObject = Readonly<Record<string, Json>>;

const objectOf = (value: Json | undefined): JsonObject | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;

const ownValue = (object: JsonObject | undefined, key: string): Json | undefined =>
  object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;

const isCount = (value: Json | undefined): value is number => typeof value === "number" && value > 0;

const readRate = (value: Json | undefined): RateLimit | undefined => {
  const given = objectOf(value);
  const perMinute = ownValue(given, "max_reqs_per_min");
  if (!isCount(perMinute)) return undefined;
  const unique = ownValue(given, "unique_params") ?? [];
  const names = (Array.isArray(unique) ? unique : [unique]).map(String);
  return { perMinute, by: names.map((name) => (name.toUpperCase() === "IP" ? "address" : name)) };
};

/** The limit of the role, or else the global limit. */
const valueFor = (document: JsonObject, kind: string, role: string): Json | undefined => {
  const limit = objectOf(ownValue(document, kind));
  return ownValue(objectOf(ownValue(limit, "per_role")), role) ?? ownValue(limit, "global");
};

/** The kinds of `api_limits`, with the plugins that apply them. Hasura has the first five. */
const OWNERS: Readonly<Record<string, string>> = {
  depth_limit: "api-limits",
  node_limit: "api-limits",
  batch_limit: "api-limits",
  time_limit: "api-limits",
  rate_limit: "rate-limits",
  alias_limit: "api-limits",
  root_field_limit: "api-limits",
  row_limit: "row-limits",
  cost_limit: "cost-limits",
  estimated_row_limit: "cost-limits",
};

/** Whether a kind belongs to the plugin. `api-limits` reports unknown kinds. */
export const kindsOf =
  (plugin: string) =>
  (kind: string): boolean =>
    (OWNERS[kind] ?? "api-limits") === plugin;

const isRate = (value: Json | undefined): boolean => readRate(value) !== undefined;

/** Lists the mistakes in a document. */
const mistakesIn = (document: JsonObject, isMine: (kind: string) => boolean): readonly string[] => {
  const faults: string[] = [];
  for (const [kind, value] of Object.entries(document)) {
    if (kind === "disabled" || !isMine(kind)) continue;
    if (!Object.hasOwn(OWNERS, kind)) {
      faults.push(`${kind}: no such limit; ignored`);
      continue;
    }
    const takes = kind === "rate_limit" ? isRate : isCount;
    const { global, per_role: perRole } = objectOf(value) ?? {};
    if (global !== undefined && !takes(global)) faults.push(`${kind}.global: not a limit; ignored`);
    for (const [role, limit] of Object.entries(objectOf(perRole) ?? {}))
      if (!takes(limit)) faults.push(`${kind}.per_role.${role}: not a limit; ignored`);
  }
  return faults;
};

const countOf = (value: Json | undefined): number | undefined => (isCount(value) ? value : undefined);

/** The setting with limits per role for a kind, which takes precedence over `api_limits`. */
const settingOf = (
  options: Pick<ResolvedOptions, "rateLimits" | "rowLimits" | "costLimits" | "estimatedRowLimits">,
  kind: string,
): Readonly<Record<string, number>> | undefined => {
  switch (kind) {
    case "rate_limit":
      return options.rateLimits;
    case "row_limit":
      return options.rowLimits;
    case "cost_limit":
      return options.costLimits;
    case "estimated_row_limit":
      return options.estimatedRowLimits;
    default:
      return undefined;
  }
};

const readLimits = (documents: readonly JsonObject[], options: ResolvedOptions, role: string) => {
  const inEffect = documents.filter((document) => ownValue(document, "disabled") !== true);
  const first = <Value>(kind: string, read: (value: Json | undefined) => Value | undefined): Value | undefined => {
    for (const document of inEffect) {
      const value = read(valueFor(document, kind, role));
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const set = (kind: string): number | undefined => {
    const limits = settingOf(options, kind);
    return countOf(ownValue(limits, role) ?? ownValue(limits, "*"));
  };
  const count = (kind: string): number | undefined => set(kind) ?? first(kind, countOf);
  const perMinute = set("rate_limit");
  const rate = perMinute === undefined ? first("rate_limit", readRate) : { perMinute, by: options.rateLimitBy };
  const limits: { [Key in keyof RoleLimits]: RoleLimits[Key] | undefined } = {
    depth: count("depth_limit"),
    nodes: count("node_limit"),
    batch: count("batch_limit"),
    aliases: count("alias_limit"),
    rootFields: count("root_field_limit"),
    rows: count("row_limit"),
    cost: count("cost_limit"),
    estimatedRows: count("estimated_row_limit"),
    seconds: count("time_limit"),
    rate,
  };
  return limits as RoleLimits; // an undefined member counts as missing
};

const NO_LIMITS: RoleLimits = {};

/** Whether the caller is an administrator without another role. No limits apply then. */
const isFree = ({ isAdmin, role }: Session): boolean => isAdmin && role === "admin";

export interface LimitsByRole {
  of(session: Session): RoleLimits;
  /** Whether any role may have a limit of these kinds. */
  readonly isUsed: boolean;
}

/** Reads the current limits. `isMine` selects the kinds that the plugin applies, and whose mistakes are logged after
 *  each load. */
export const createRoleLimits = (context: PluginContext, isMine: (kind: string) => boolean): LimitsByRole => {
  let model: Model | undefined;
  let options: ResolvedOptions | undefined;
  let documents: readonly JsonObject[] = [];
  const known = new Map<string, RoleLimits>();

  const refresh = (current: Model | undefined): void => {
    model = current;
    options = context.options;
    known.clear();
    const ofMetadata = (current?.parts["metadata-limits"] ?? {}) as MetadataLimits; // only its loader writes it
    documents = [options.apiLimits ?? {}, ofMetadata];
  };
  refresh(undefined);
  context.onModel((loaded) => {
    refresh(loaded);
    for (const document of documents)
      for (const fault of mistakesIn(document, isMine)) context.logger.warn(`api_limits: ${fault}`);
  });

  return {
    of: (session) => {
      if (isFree(session)) return NO_LIMITS;
      if (options !== context.options) refresh(model);
      let limits = known.get(session.role);
      if (limits === undefined) {
        if (known.size >= MAX_ROLES) known.clear();
        limits = readLimits(documents, context.options, session.role);
        known.set(session.role, limits);
      }
      return limits;
    },
    get isUsed() {
      // other listeners of the load may read this before the listener above was called
      const loaded = modelOf(context);
      if (loaded !== model) refresh(loaded);
      return Object.keys(OWNERS).some(
        (kind) =>
          isMine(kind) &&
          (settingOf(context.options, kind) !== undefined ||
            documents.some((document) => ownValue(document, kind) !== undefined)),
      );
    },
  };
};

const modelOf = (context: PluginContext): Model | undefined => {
  try {
    return context.model();
  } catch {
    return undefined; // no model is loaded yet
  }
};

/** Whether the settings or the metadata may contain limits. */
export const mayLimit = ({ apiLimits, metadata, ...others }: ResolvedOptions): boolean =>
  apiLimits !== undefined ||
  metadata !== undefined ||
  Object.keys(OWNERS).some((kind) => settingOf(others, kind) !== undefined);

/** Bounds the memory, because tokens may name any number of roles. */
const MAX_ROLES = 1000;
