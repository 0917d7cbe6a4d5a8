/**
 * The exports of `relapi` for applications and plugins. The exports include the types of core with the members that
 * surfaces add, such as `api.rest`. At run time only core is loaded.
 */
export type * from "../core/index.ts";
export {
  // presets and their options
  CallError,
  compose,
  optionsFromEnvironment,
  relApi,
  Stage,
  VERSION,
  without,
  // definitions for plugins and their settings
  defineHook,
  definePlugin,
  defineService,
  defineSetting,
  defineSignal,
  requireService,
  settingKinds,
  buildSettingRows,
  // functions that make errors
  bodyTooLarge,
  buildErrorFields,
  limitExceeded,
  sessionVariableMissing,
  presetError,
  RelApiError,
  tokenRejected,
  urlTooLong,
  // optional packages, which bundlers do not see
  importPackage,
  // requests and responses
  buildJsonAnswer,
  createOriginPolicyGetter,
  adaptFieldsFirstLogger,
  decodeUtf8Header,
  requestEndedSignal,
  transactionEndedSignal,
  // functions of the model
  findBaseType,
  findColumn,
  matchesType,
  buildNameKey,
  findClosestNames,
  findRelation,
  findRoutines,
  getQualifiedName,
  getVisibility,
  // functions of plans
  buildColumnComparison,
  mapPlan,
  defineCacheQuestion,
  memoize,
  restrictRows,
  visitPlan,
  explainProgram,
  // functions that build SQL
  getBoundValue,
  trustedSql,
  quoteIdentifier,
  inlineInteger,
  joinSql,
  quoteLiteral,
  sql,
  compileSql,
  bindValue,
  // functions for JSON
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
