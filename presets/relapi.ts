/**
 * The exports of `relapi` for applications and plugins. The exports include the types of core with the members that
 * surfaces add, such as `api.rest`. At run time only core is loaded.
 */
export type * from "../core/index.ts";
export {
  // Presets and their options.
  CallError,
  compose,
  optionsFromEnvironment,
  relApi,
  Stage,
  VERSION,
  without,
  // Definitions for plugins and their settings.
  defineHook,
  definePlugin,
  defineService,
  defineSetting,
  defineSignal,
  requireService,
  settingKinds,
  buildSettingRows,
  // Functions that make errors.
  bodyTooLarge,
  buildErrorFields,
  limitExceeded,
  sessionVariableMissing,
  presetError,
  RelApiError,
  tokenRejected,
  urlTooLong,
  // Optional packages, which bundlers do not see.
  importPackage,
  // Requests and responses.
  buildJsonAnswer,
  createOriginPolicyGetter,
  adaptFieldsFirstLogger,
  decodeUtf8Header,
  requestEndedSignal,
  transactionEndedSignal,
  // Functions of the model.
  findBaseType,
  findColumn,
  matchesType,
  buildNameKey,
  buildSuggestion,
  findClosestNames,
  findRelation,
  findRoutines,
  getQualifiedName,
  getVisibility,
  // Functions of plans.
  buildColumnComparison,
  mapPlan,
  defineCacheQuestion,
  memoize,
  restrictRows,
  visitPlan,
  explainProgram,
  // Functions that build SQL.
  getBoundValue,
  trustedSql,
  quoteIdentifier,
  inlineInteger,
  joinSql,
  quoteLiteral,
  sql,
  compileSql,
  bindValue,
  // Functions for JSON.
  encodeArrayLiteral,
  isJsonObject,
  exceedsJsonDepth,
  getNumberText,
  parseJson,
  writeJson,
} from "../core/index.ts";
export type { ClaimsReading, TokenRoles, TokenFailure, TokenRules, VerifiedToken } from "../plugins/auth/api.ts";
export type { GraphqlCall, GraphqlResult } from "../plugins/graphql/api.ts";
export type { RestCall } from "../plugins/rest/api.ts";
