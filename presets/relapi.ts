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
  missingSessionVariable,
  presetError,
  RelApiError,
  tokenRefused,
  urlTooLong,
  // Optional packages, which bundlers do not see.
  importPackage,
  // Requests and responses.
  buildJsonAnswer,
  createCurrentOriginPolicy,
  createFieldsLogger,
  decodeUtf8Header,
  requestSignal,
  transactionSignal,
  // Functions of the model.
  findBaseType,
  findColumn,
  matchesType,
  nameKey,
  findClosestNames,
  findRelation,
  findRoutines,
  getVisibility,
  // Functions of plans.
  compareColumn,
  mapPlan,
  defineQuestion,
  memoize,
  restrictRows,
  visitPlan,
  explainProgram,
  // Functions that build SQL.
  getBoundValue,
  catalogText,
  ident,
  integer,
  join,
  literal,
  sql,
  toStatement,
  value,
  // Functions for JSON.
  arrayLiteral,
  isJsonObject,
  isNestedDeeper,
  numberText,
  parseJson,
  writeJson,
} from "../core/index.ts";
export type { ClaimsReading, TokenRoles, TokenFailure, TokenRules, VerifiedToken } from "../plugins/auth/api.ts";
export type { GraphqlCall, GraphqlResult } from "../plugins/graphql/api.ts";
export type { RestCall } from "../plugins/rest/api.ts";
