/** The banner of the standalone server: its URLs and three requests to copy. */
import {
  mayUseAnyColumn,
  mayUseColumn,
  findRelation,
  VERSION,
  type Model,
  type Relation,
  type RelApiOptions,
} from "../../core/index.ts";
import { chooseLabelColumn, sortForExamples } from "../../plugins/shared/examples.ts";
import { getRestPrefixes } from "../../plugins/rest/syntax/resolve-target.ts";

/** Builds the text that the standalone server prints when it has started. */
export const buildBanner = (address: string, options: RelApiOptions, model: Model, dataDir?: string): string => {
  const isSocket = address.startsWith("/");
  const base = isSocket ? "http://localhost" : address;
  const [root = ""] = getRestPrefixes(options);
  const database =
    options.database === undefined
      ? "your database"
      : dataDir === undefined
        ? "the embedded demo database, in memory"
        : `the embedded demo database in ${dataDir}`;
  const lines = [`relapi ${VERSION} on ${database}`];
  if (isSocket) lines.push(`  socket     ${address}`);
  lines.push(
    `  REST       ${base}${root}`,
    `  GraphQL    ${base}/v1/graphql`,
    `  WebSocket  ${base.replace(/^http/, "ws")}/v1/graphql/ws`,
  );
  if (!isSocket) lines.push(`  Browser    ${base}/`);
  const requests = buildExampleRequests(base, root, isSocket ? ` --unix-socket ${address}` : "", options, model);
  if (requests.length > 0) lines.push("", "Try:", ...requests.map((request) => `  ${request}`));
  return `${lines.join("\n")}\n`;
};

const buildExampleRequests = (
  base: string,
  root: string,
  via: string,
  options: RelApiOptions,
  model: Model,
): readonly string[] => {
  const role = options.anonRole ?? model.loginRole;
  const relation = chooseExampleRelation(model, role);
  if (relation === undefined) return [];
  const { schema, name } = relation;
  const column = chooseLabel(model, role, relation);
  const parent = relation.relationships
    .map((relationship) =>
      relationship.isToOne && relationship.routine === undefined ? findRelation(model, relationship.target) : undefined,
    )
    .find((target) => target !== undefined && target !== relation && mayUseAnyColumn(model, role, target, "select"));
  const credential =
    options.anonRole === undefined && options.adminSecret !== undefined
      ? ` -H "X-Session-Admin-Secret: $ADMIN_SECRET"`
      : "";
  const select =
    parent === undefined ? `select=${column}` : `select=${column},${parent.name}(${chooseLabel(model, role, parent)})`;
  const field = schema === "public" ? name : `${schema}_${name}`;
  return [
    `curl${via}${credential} '${base}${root}/${name}?limit=3'`,
    `curl${via}${credential} '${base}${root}/${name}?${select}&limit=3'`,
    `curl${via}${credential} '${base}/v1/graphql' -d '{"query":"{ ${field}(limit: 3) { ${column} } }"}'`,
  ];
};

const PLAIN_WORD = /^[a-z_][a-z0-9_]*$/; // a name that needs no escaping in any syntax: `home_port`

/** Returns the relation of the default schema that makes the best example for the role. */
const chooseExampleRelation = (model: Model, role: string): Relation | undefined =>
  sortForExamples(
    model,
    [...model.relations.values()].filter(
      (relation) =>
        relation.schema === model.schemas[0] &&
        PLAIN_WORD.test(relation.name) &&
        relation.columns.some((column) => PLAIN_WORD.test(column.name)) &&
        mayUseAnyColumn(model, role, relation, "select"),
    ),
  )[0];

const chooseLabel = (model: Model, role: string, relation: Relation): string =>
  chooseLabelColumn(
    model,
    relation.columns.filter(
      (column) => PLAIN_WORD.test(column.name) && mayUseColumn(model, role, relation, column, "select"),
    ),
  )?.name ?? "*";
