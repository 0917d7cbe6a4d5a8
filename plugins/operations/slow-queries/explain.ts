/** Explains a statement without the values of any request. */
import {
  createProgram,
  trustedSql,
  explainProgram,
  quoteIdentifier,
  joinSql,
  sql,
  compileSql,
  type Execution,
  type Program,
  type ProgramStatement,
  type PluginContext,
  type Sql,
} from "../../../core/index.ts";

const EXPLAINABLE = /^\s*(?:select|with|insert|update|delete|merge)\b/i;
/** Matches quoted values in a plan, which come from views, policies and metadata, and may be confidential. */
const QUOTED_VALUE = /'(?:[^']|'')*'/g;

/** The setting that makes PostgreSQL plan without values, so that conditions show `$1`. PostgreSQL 16 has
 *  `generic_plan` for this purpose; the setting also works in older versions. */
const GENERIC_PLAN = ["plan_cache_mode", "force_generic_plan"] as const;

let statementCount = 0;

const buildExplainProgram = ({ text, slots }: ProgramStatement, relations: Program["relations"]): Program => {
  const name = quoteIdentifier(`relapi_slow_${process.pid}_${++statementCount}`);
  const values = slots.length === 0 ? sql`` : sql`(${joinSql(slots.map(() => sql`null`))})`;
  const buildStatement = (fragment: Sql): ProgramStatement => ({ ...compileSql(fragment), columns: [] });
  const executeStatements = [buildStatement(sql`execute ${name}${values}`)];
  const explainedProgram = explainProgram(createProgram(executeStatements, { relations }), "costs");
  return {
    ...explainedProgram,
    statements: [
      buildStatement(sql`prepare ${name} as ${trustedSql(text)}`),
      ...explainedProgram.statements,
      buildStatement(sql`deallocate ${name}`),
    ],
    main: 1,
  };
};

/** Returns whether the execution explains a statement. */
export const isExplaining = ({ settings }: Execution): boolean => settings?.includes(GENERIC_PLAN) === true;

/** Explains a statement of the execution, as the role of the execution. Undefined if the statement cannot be explained.
 *  @throws RelApiError */
export const explain = async (
  context: PluginContext,
  { session, schema, keepsLoginPath, requestSettings, settings = [] }: Execution,
  statement: ProgramStatement,
  relations: Program["relations"],
): Promise<string | undefined> => {
  if (!EXPLAINABLE.test(statement.text)) return undefined;
  const [row] = await context.execute({
    session,
    schema,
    ...(keepsLoginPath === undefined ? {} : { keepsLoginPath }),
    ...(requestSettings === undefined ? {} : { requestSettings }),
    settings: [...settings, GENERIC_PLAN],
    access: "read only",
    programs: [{ program: buildExplainProgram(statement, relations), values: [] }],
    end: "commit",
    skipsPreRequest: true,
  });
  return row?.["plan"]?.replace(QUOTED_VALUE, "'?'");
};
