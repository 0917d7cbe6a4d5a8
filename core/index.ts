/** The exports of core for the plugins and presets of the package. `presets/relapi.ts` has the public exports. */
export { relApi, type RelApi } from "./relapi.ts";
export { compose, Stage, without, type Preset, type PresetPart } from "./kernel/preset.ts";
export * from "./plugin.ts";
export { runToEnd, forEachSliced, runSliced, type Slices } from "./kernel/time-slicing.ts";
export * from "./hooks.ts";
export type * from "./settings/options.ts";
export {
  anonymousRejected,
  BODY_STATUSES,
  bodyTooLarge,
  columnUnknown,
  connectionFailed,
  connectionLost,
  getErrorMessage,
  internalError,
  sessionVariableMissing,
  nulCharacterInvalid,
  presetError,
  RelApiError,
  requestCancelled,
  tokenRejected,
  valueCountExceeded,
  type RelApiErrorFields,
} from "./kernel/errors.ts";
export { buildErrorFields } from "./kernel/plugin-errors.ts";
export {
  countRejection,
  limitExceeded,
  nameRejectionCounter,
  urlTooLong,
  type Limit,
  type RequestLimits,
} from "./kernel/limits.ts";
export {
  findStringEnd,
  findValueEnd,
  exceedsJsonDepth,
  joinJsonArray,
  createJsonArray,
  splitJson,
} from "./kernel/json-text.ts";
export type { Counters } from "./kernel/counters.ts";
export type { HealthProblems } from "./kernel/health-problems.ts";
export * from "./kernel/session.ts";
export {
  defineHook,
  defineService,
  defineSignal,
  requireService,
  type ServiceToken,
  type Signal,
  type Token,
  type ValueOf,
} from "./kernel/token.ts";
export { observeSession, type SessionSource } from "./kernel/observed-session.ts";
export type * from "./route.ts";
export {
  CallError,
  type ApiAnswer,
  type ApiCall,
  type ApiMethods,
  type Caller,
  type CallOptions,
} from "./http/call.ts";
export { isOwnCall } from "./http/call.ts";
export { endAndDiscard } from "./http/linger.ts";
export type * from "./http/exchange.ts";
export { buildJsonAnswer, writeAnswer } from "./http/respond.ts";
export { createPathReader, repeatsHost } from "./http/pipeline.ts";
export {
  findCookie,
  parseCookies,
  listFirstHeaders,
  findMountPath,
  decodeUtf8Header,
  encodeUtf8Header,
} from "./http/request-headers.ts";
export type { AnyServer } from "./http/servers.ts";
export * from "./model/model.ts";
export * from "./model/privileges.ts";
export type * from "./model/visibility.ts";
export { findComputedField, listRowTypes } from "./model/computed-fields.ts";
export { findSystemColumnType } from "./model/system-columns.ts";
export { buildSuggestion, findClosestNames, levenshtein } from "./kernel/did-you-mean.ts";
export { trimEndCharacter } from "./kernel/trim-end.ts";
export { getVisibility } from "./model/caller-visibility.ts";
export type * from "./plan/plan.ts";
export { hasNulEscape } from "./values/invalid-text.ts";
export { encodeArrayLiteral, type ArrayItem } from "./values/array-literal.ts";
export {
  exactNumber,
  holdsRawNumber,
  isFloatLiteral,
  isJsonObject,
  isRawNumber,
  getNumberText,
  parseJson,
  createRawNumber,
  writeJson,
} from "./values/exact-numbers.ts";
export { visitPlan, mapPlan, type PlanScope, type PlanSource, type PlanPath } from "./plan/walk.ts";
export { buildColumnComparison, restrictRows, type RowRule } from "./plan/conditions.ts";
export { planKey, hashPlan } from "./kernel/plan-key.ts";
export { memoize, memoizeValue } from "./kernel/memoize.ts";
export {
  createCaches,
  defineCacheQuestion,
  type Ask,
  type Cache,
  type CacheLimits,
  type CacheManager,
  type CacheSpec,
  type CacheEntry,
  type CacheQuestion,
} from "./kernel/cache.ts";
export {
  sql,
  quoteIdentifier,
  bindValue,
  bindSlot,
  joinSql,
  quoteLiteral,
  inlineInteger,
  empty,
  trustedSql,
  compileSql,
  flattenFragment,
  getBoundValue,
  MAX_LIST_LENGTH,
  type Sql,
  type Statement,
  type Slot,
  type BoundValue,
  type SentValue,
  type JsonList,
  type TextRow,
} from "./sql/fragment.ts";
export { usesOnlyBuiltIns, type BuiltIn } from "./sql/built-in.ts";
export { createBatchProgram } from "./sql/batch.ts";
export { CORE_MEDIA } from "./sql/compile.ts";
export { COMPARISONS as KEYSET_COMPARISONS } from "./sql/keyset.ts";
export { UNNAMED_COLUMN } from "./sql/json.ts";
export {
  createProgram,
  explainProgram,
  explainStatement,
  type Program,
  type ProgramStatement,
  type RowSource,
} from "./sql/program.ts";
export type { Connection, ScriptResult } from "./database/connection.ts";
export { isFatal, isTimedOut, isUnreachable } from "./database/pg-errors.ts";
export type { WireResult, WireRow, WireStatement } from "./database/wire.ts";
export type { LongRow, LongRows, RowReader } from "./database/long-row.ts";
export type { ScriptOptions } from "./database/script.ts";
export type { ReplicationConnection } from "./database/connector.ts";
export { fillSlots } from "./database/transaction.ts";
export {
  explainMissingFile,
  findPackageFile,
  importPackage,
  requirePackage,
  resolvePackage,
} from "./kernel/package-files.ts";
export { VERSION } from "./kernel/version.ts";
export { rejectDuplicates, rejectInvalidNames, rejectOverlaps } from "./kernel/specs.ts";
export { matchesType } from "./model/type-groups.ts";
export { defineSetting, type Setting, type ValuesOf } from "./settings/define-setting.ts";
export { coreSettings } from "./settings/settings.ts";
export { parseSetting, settingKinds, type SettingKind } from "./settings/setting-kinds.ts";
export { buildSettingRow, buildSettingRows } from "./settings/setting-rows.ts";
export {
  optionsFromEnvironment,
  parseVariables,
  resolveOptions,
  collectSettings,
  type Environment,
  type EnvironmentValues,
  type SettingsSource,
} from "./settings/resolve-options.ts";
export { createOriginPolicyGetter, createOriginPolicy, type OriginPolicy } from "./http/origins.ts";
export { createRequestRecord } from "./http/request-record.ts";
export { writePart } from "./http/unread-tracker.ts";
export { adaptFieldsFirstLogger, findLowestLoggedStatus } from "./kernel/logger.ts";
