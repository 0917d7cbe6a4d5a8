/** Checks settings at the start and for `relapi check`: the demo, connection strings, names in settings, row
 *  policies. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  createProgram,
  trustedSql,
  quoteIdentifier,
  RelApiError,
  buildSuggestion,
  presetError,
  sql,
  compileSql,
  bindValue,
  type Environment,
  type PluginContext,
  type RelApiOptions,
  type Sql,
} from "../../core/index.ts";
import type { UnknownVariable } from "./unknown-variables.ts";
import type { ServerSettings } from "./server-settings.ts";

/** Matches variables that show that a database is intended: settings of this server, of PostgREST, of Hasura and of
 *  libpq. */
const DATABASE_VARIABLE =
  /^(?:PGRST_DB_|HASURA_GRAPHQL_(?:METADATA_)?DATABASE_URL$|DB_|DATABASE_|PG(?:HOST|HOSTADDR|PORT|DATABASE|USER|PASSWORD|PASSFILE|SERVICE|SERVICEFILE)$)/;

/** Matches a connection string, which may have any name: `POSTGRES_URL`, `PG_DATABASE_URL`. */
const CONNECTION_STRING = /^\s*postgres(?:ql)?:\/\//i;

/**
 * Returns the notice to print when the demo starts, and by `relapi check`. Returns undefined if a database is
 * configured. @throws RelApiError `preset` if the demo must not start @rule C-SET-4
 */
export const buildDemoNotice = (
  { options, server }: { readonly options: RelApiOptions; readonly server: ServerSettings },
  environment: Environment,
  unknownVariables: readonly UnknownVariable[],
): string | undefined => {
  if (options.databaseUrl !== undefined || options.database !== undefined || server.dataDir !== undefined)
    return undefined;
  const isSet = (name: string): boolean => (environment[name] ?? "") !== "";
  const hints = [
    ...unknownVariables
      .filter(({ suggestion = "" }) => /DATABASE_URL$|DB_URI$/.test(suggestion) || DATABASE_VARIABLE.test(suggestion))
      .map(({ message }) => message),
    ...Object.keys(environment)
      .filter((name) => isSet(name) && unknownVariables.every((unknownVariable) => unknownVariable.name !== name))
      .filter((name) => DATABASE_VARIABLE.test(name) || CONNECTION_STRING.test(environment[name] ?? ""))
      .filter((name) => !name.startsWith("TEST_")) // variables for test suites, such as this project's
      .sort()
      .slice(0, 1)
      .map((name) => `${name} is set, and DATABASE_URL is not`),
  ];
  if (hints.length > 0)
    throw presetError(
      `${hints.join("\n")}\nno DATABASE_URL: the demo starts only if no setting of a database is set; set DATABASE_URL (postgres:// without a host uses the PG… variables), or DATA_DIR for a demo in a folder`,
    );
  if (environment["NODE_ENV"] === "production")
    throw presetError("no DATABASE_URL: the demo does not start with NODE_ENV=production; set DATABASE_URL");
  return "no DATABASE_URL: starting the embedded demo database";
};

const PARAMETER_VALUES: readonly (readonly [parameter: string, values: readonly string[]])[] = [
  ["sslmode", ["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "no-verify"]],
  ["target_session_attrs", ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"]],
  ["load_balance_hosts", ["disable", "random"]],
];

const isCertificate = (pem: string): boolean => {
  const [, ...parts] = pem.split("-----BEGIN ");
  const certificates = parts.filter((part) => /^(?:TRUSTED |X509 )?CERTIFICATE-----/.test(part));
  return (
    certificates.length > 0 && certificates.every((part) => isReadable(() => new X509Certificate(`-----BEGIN ${part}`)))
  );
};

/** Returns whether the text is a private key. A key with a password counts, because such a key cannot be read without
 *  the password. */
const isKey = (pem: string): boolean => /ENCRYPTED/.test(pem) || isReadable(() => createPrivateKey(pem));

const isReadable = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch {
    return false;
  }
};

const PARAMETER_FILES: readonly (readonly [parameter: string, holds: string, test: (pem: string) => boolean])[] = [
  ["sslrootcert", "a PEM certificate", isCertificate],
  ["sslcert", "a PEM certificate", isCertificate],
  ["sslkey", "a PEM key", isKey],
];

/** Checks a URL or a string such as `host=… sslmode=…`, which comes from `variable`. @rule C-SET-3 */
export const findEncryptionErrors = (variable: string, url: string): readonly string[] => {
  const isUrl = /^\w+:\/\//.test(url);
  const readParameter = (name: string): string | undefined => {
    const match = new RegExp(`(?:[?&]|^|\\s)${name}\\s*=\\s*(?:'([^']*)'|([^&\\s']+))`).exec(url);
    const text = match?.[1] ?? match?.[2];
    return text === undefined || !isUrl ? text : decodeURIComponent(text);
  };
  const files = PARAMETER_FILES.flatMap(([parameter, holds, test]) => {
    const file = readParameter(parameter) ?? "";
    if (file === "" || file === "system") return [];
    try {
      if (test(readFileSync(file, "utf8"))) return [];
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ENOENT"
        ? [`${variable} names the file "${file}" (${parameter}), which does not exist`]
        : [`${variable} names the file "${file}" (${parameter}), which cannot be read: ${(error as Error).message}`];
    }
    return [`${variable} names the file "${file}" (${parameter}), which does not contain ${holds}`];
  });
  const words = PARAMETER_VALUES.flatMap(([parameter, knownValues]) => {
    const word = readParameter(parameter);
    return word === undefined || knownValues.includes(word)
      ? []
      : [`${variable} has ${parameter}=${word}: expected one of ${knownValues.join(", ")}`];
  });
  return [...words, ...files];
};

interface FunctionRow {
  readonly schema: string;
  readonly name: string;
}

/** Checks the functions that settings name. Returns the findings, one line each. @rule C-SET-3 */
export const checkNamedFunctions = async (context: PluginContext): Promise<readonly string[]> => {
  const { dbPreRequest, dbRootSpec, dbPreConfig, dbSchemas, dbExtraSearchPath } = context.options;
  const functionNames = Object.entries({
    DB_PRE_REQUEST: dbPreRequest,
    DB_ROOT_SPEC: dbRootSpec,
    DB_PRE_CONFIG: dbPreConfig,
  }).filter((entry): entry is [string, string] => (entry[1] ?? "") !== "");
  if (functionNames.length === 0) return [];
  const functions = await context.query<FunctionRow>(sql`
    select distinct schema.nspname::text as schema, routine.proname::text as name
    from pg_catalog.pg_proc routine
    join pg_catalog.pg_namespace schema on schema.oid = routine.pronamespace
    where schema.nspname not in ('pg_catalog', 'information_schema')`);
  const names = functions.map(({ schema, name }) => `${schema}.${name}`);
  const path = [...dbSchemas, ...dbExtraSearchPath];
  return functionNames.flatMap(([variable, functionName]) => {
    const isThere = functionName.includes(".")
      ? names.includes(functionName)
      : functions.some(({ schema, name }) => name === functionName && path.includes(schema));
    if (isThere) return [];
    const candidates = functionName.includes(".") ? names : functions.map(({ name }) => name);
    return [
      `${variable} is "${functionName}", a function that does not exist${buildSuggestion(functionName, new Set(candidates))}`,
    ];
  });
};

interface PolicyFinding {
  readonly isError: boolean;
  readonly text: string;
}

/** Returns the schemas of `DB_SCHEMAS` as a list for `in`. */
export const compileSchemaList = ({ options }: PluginContext): Sql =>
  sql`(select pg_catalog.json_array_elements_text(${bindValue(JSON.stringify(options.dbSchemas), "json")}))`;

interface RowSecurityFinding {
  readonly relation: string;
  /** True if row-level security is on without a policy. Otherwise, the table has policies and it is off. */
  readonly isOn: boolean;
}

/** Loads the tables whose policies have no effect, or hide all rows. */
export const loadRowSecurityFindings = (context: PluginContext): Promise<readonly RowSecurityFinding[]> =>
  context.query<RowSecurityFinding>(sql`
    select pg_catalog.format('%I.%I', schema.nspname, relation.relname) as relation,
      relation.relrowsecurity as "isOn"
    from pg_catalog.pg_class relation
    join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
    where schema.nspname in ${compileSchemaList(context)}
      and relation.relkind in ('r', 'p')
      and relation.relrowsecurity is distinct from exists (
        select from pg_catalog.pg_policy policy where policy.polrelid = relation.oid)
    order by 1`);

/** Finds tables whose row security is off, or on without a policy. @rule C-CHK-2 C-CHK-3 */
const findDisabledPolicies = async (context: PluginContext): Promise<readonly PolicyFinding[]> =>
  (await loadRowSecurityFindings(context)).map(({ relation, isOn }) =>
    isOn
      ? { isError: false, text: `${relation} has row-level security and no policy: only its owner sees rows` }
      : {
          isError: true,
          text: `${relation} has row policies that do nothing: ALTER TABLE ${relation} ENABLE ROW LEVEL SECURITY`,
        },
  );

interface PolicyExpression {
  readonly schema: string;
  readonly name: string;
  readonly relation: string;
  readonly policy: string;
  readonly expression: string;
}

/** SQLSTATEs of missing functions, tables, columns and settings. */
const MISSING_SQLSTATES: ReadonlySet<string> = new Set(["42883", "42P01", "42703", "42704", "3F000"]);

/** Finds policies that fail. PostgreSQL prevents dropping objects that a policy names, but not settings or objects that
 *  its functions name. Each policy is therefore evaluated for a row of nulls, in a transaction that is rolled back.
 *  @rule C-CHK-4 */
const findBrokenPolicies = async (context: PluginContext): Promise<readonly PolicyFinding[]> => {
  const expressions = await context.query<PolicyExpression>(sql`
    select schemaname::text as schema, tablename::text as name,
      pg_catalog.format('%I.%I', schemaname, tablename) as relation, policyname::text as policy, expression
    from pg_catalog.pg_policies
    cross join lateral (select distinct given as expression from (values (qual), (with_check)) as of_policy (given)) used
    where schemaname in ${compileSchemaList(context)} and expression is not null
    order by 3, 4`);
  const findings: PolicyFinding[] = [];
  for (const { schema, name, relation, policy, expression } of expressions) {
    const message = await findPolicyError(context, schema, name, expression);
    if (message !== undefined)
      findings.push({ isError: true, text: `policy "${policy}" on ${relation} fails for every row: ${message}` });
  }
  return findings;
};

const findPolicyError = async (
  context: PluginContext,
  schema: string,
  name: string,
  expression: string,
): Promise<string | undefined> => {
  // The `offset` keeps the planner from folding nulls.
  const statement = sql`
    select (${trustedSql(expression)}) is null as found
    from (select (null::${quoteIdentifier(schema, name)}).* offset 0) as ${quoteIdentifier(name)}`;
  try {
    await context.execute({
      // The session of an administrator runs as the login role, with the settings of requests.
      session: { role: "admin", isAdmin: true, claims: { role: "admin" }, variables: { "x-session-role": "admin" } },
      access: "read write",
      schema,
      programs: [
        {
          program: createProgram([{ ...compileSql(statement), columns: ["found"] }]),
          values: [],
        },
      ],
      end: "rollback",
      skipsPreRequest: true,
    });
  } catch (error) {
    if (!(error instanceof RelApiError)) throw error;
    if (MISSING_SQLSTATES.has(error.code)) return error.message;
  }
  return undefined;
};

/** Checks row policies. Returns the findings, one line each. */
export const checkPolicies = async (context: PluginContext): Promise<readonly PolicyFinding[]> => [
  ...(await findDisabledPolicies(context)),
  ...(await findBrokenPolicies(context)),
];
