/** What `import … from "relapi"` gives to applications and to plugins of their own. It has the types of core, with the
 *  members that the surfaces add to them (`api.rest`, the REST name of an operator). At run time it loads nothing but
 *  core. */
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
  // plugins and their settings
  defineHook,
  defineLimit,
  defineOption,
  definePlugin,
  defineService,
  defineSetting,
  defineSignal,
  settingKinds,
  settingRows,
  settingsOf,
  // errors
  bodyTooLarge,
  faultFacts,
  isRelApiError,
  limitExceeded,
  missingSessionVariable,
  presetError,
  RelApiError,
  tokenRefused,
  urlTooLong,
  // requests and answers
  bearerChallenge,
  createOriginPolicies,
  fieldsLogger,
  markBytes,
  requestSignal,
  sessionOf,
  transactionSignal,
  // the model
  baseTypeOf,
  columnOf,
  matchesType,
  nameKey,
  nearestNames,
  relationOf,
  routinesOf,
  sameName,
  visibilityOf,
  // plans
  compareColumn,
  inPieces,
  mapPlan,
  membersOf,
  memoize,
  restrictRows,
  visitPlan,
  explainProgram,
  // SQL
  boundOf,
  catalogText,
  empty,
  ident,
  integer,
  join,
  literal,
  sql,
  toStatement,
  value,
  // JSON
  arrayLiteral,
  holdsRawNumber,
  isNestedDeeper,
  isRawNumber,
  numberText,
  parseJson,
  writeJson,
} from "../core/index.ts";
export type { ClaimsReading, Grant, TokenFailure, TokenRules, VerifiedToken } from "../plugins/auth/api.ts";
export type { GraphqlCall, GraphqlResult } from "../plugins/graphql/api.ts";
export type { RestCall } from "../plugins/rest/api.ts";
