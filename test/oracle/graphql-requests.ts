/**
 * Random GraphQL requests, made from introspection: selections, arguments as literals and as variables, nested
 * conditions, lists and single values, null and absent variables, `@include` and `@skip`. The same document comes with
 * several sets of variables.
 */
import { asAdmin } from "../support/api.ts";
import type { Random } from "../support/random.ts";
import { typeText, type Schema, type SchemaField, type SchemaInput } from "../support/schema.ts";
import type { OracleRequest } from "../support/oracle/oracle.ts";

type TypeRef = SchemaInput["type"];

interface Value {
  readonly json: unknown;
  /** The value as a literal of a document. */
  readonly literal: string;
}

const SCALARS: Readonly<Record<string, readonly unknown[]>> = {
  Int: [0, 1, 2, 3, 4, 5, 7, 100],
  Float: [0, 1.5, 50, 100.25],
  Boolean: [true, false],
  String: ["a", "Abba", "Arrival", "%a%", "Ann", "", "it's", '"q" \\ {'],
  numeric: [0, 9.99, 12.5, 20, "25"],
  bigint: [1, 5000, "9007199254740993"],
  date: ["1972-11-01", "2020-02-29"],
  timestamptz: ["2024-01-01T00:00:00+00:00"],
  jsonb: [{ a: 1 }, ["pop"], "x", 4],
  json: [{ a: 1 }],
};

/** Literals for types that are not listed above. Any value is fine, because both servers have to answer alike. */
const ANY = ["1", "a", 1, true];

const nonNull = (type: TypeRef): TypeRef => (type.kind === "NON_NULL" && type.ofType !== null ? type.ofType : type);

interface DocumentOptions {
  readonly schema: Schema;
  /** Decides the shape of the document. */
  readonly shape: Random;
  /** Decides the values of variables. */
  readonly values: Random;
}

const scalarValue = (name: string, random: Random): Value => {
  const json = random.pick(SCALARS[name] ?? ANY);
  const literal =
    typeof json === "object"
      ? `{${Object.entries(json as object)
          .map(([key, part]) => `${/^\d/.test(key) ? `k${key}` : key}: ${JSON.stringify(part)}`)
          .join(", ")}}`
      : JSON.stringify(json);
  return { json, literal };
};

const inputValue = (schema: Schema, typeRef: TypeRef, random: Random, depth: number): Value => {
  if (typeRef.kind !== "NON_NULL" && random.chance(0.03)) return { json: null, literal: "null" };
  const type = nonNull(typeRef);
  if (type.kind === "LIST") {
    const item = type.ofType!;
    // A single value counts as a list.
    if (random.chance(0.2)) return inputValue(schema, { ...nonNull(item), kind: nonNull(item).kind }, random, depth);
    const items = Array.from({ length: random.int(4) }, () => inputValue(schema, item, random, depth + 1));
    return { json: items.map(({ json }) => json), literal: `[${items.map(({ literal }) => literal).join(", ")}]` };
  }
  const name = type.name!;
  if (type.kind === "ENUM") {
    const json = random.pick(schema.values(name));
    return { json, literal: json };
  }
  if (type.kind !== "INPUT_OBJECT") return scalarValue(name, random);
  const inputs = schema.type(name).inputFields ?? [];
  const requiredInputs = inputs.filter((input) => input.type.kind === "NON_NULL" && input.defaultValue === null);
  const optionalInputs = inputs.filter(
    (input) =>
      !requiredInputs.includes(input) &&
      (depth < 3 || nonNull(input.type).kind === "SCALAR" || nonNull(input.type).kind === "ENUM"),
  );
  const chosenInputs = [...requiredInputs, ...random.sample(optionalInputs, random.int(depth === 0 ? 4 : 3))];
  const members = chosenInputs.map((input) => [input.name, inputValue(schema, input.type, random, depth + 1)] as const);
  return {
    json: Object.fromEntries(members.map(([key, { json }]) => [key, json])),
    literal: `{${members.map(([key, { literal }]) => `${key}: ${literal}`).join(", ")}}`,
  };
};

export interface DrawnDocument {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Draws a document. With the same shape and other values, the document is the same and its variables are different. */
export const drawDocument = (
  { schema, shape, values }: DocumentOptions,
  kind: "query" | "mutation" | "subscription",
): DrawnDocument => {
  const declarations: string[] = [];
  const variables: Record<string, unknown> = {};

  const variable = (type: TypeRef): string => {
    const name = `v${declarations.length}`;
    const fallback =
      type.kind !== "NON_NULL" && shape.chance(0.2)
        ? ` = ${inputValue(schema, { ...type, kind: type.kind }, shape, 1).literal}`
        : "";
    declarations.push(`$${name}: ${typeText(type)}${fallback}`);
    const input = inputValue(schema, type, values, 0);
    if (type.kind === "NON_NULL" || !values.chance(0.15)) variables[name] = input.json; // otherwise the variable is absent
    return `$${name}`;
  };

  const drawArguments = (field: SchemaField): string => {
    // The planner chooses which of several equal rows remain, and their order.
    const chosenArguments = field.args.filter(
      (input) =>
        input.name !== "distinct_on" &&
        ((input.type.kind === "NON_NULL" && input.defaultValue === null) || shape.chance(0.35)),
    );
    if (chosenArguments.length === 0) return "";
    return `(${chosenArguments.map((input) => `${input.name}: ${shape.chance(0.6) ? variable(input.type) : inputValue(schema, input.type, shape, 0).literal}`).join(", ")})`;
  };

  const boolean: TypeRef = { kind: "NON_NULL", name: null, ofType: { kind: "SCALAR", name: "Boolean", ofType: null } };
  const directive = (): string =>
    shape.chance(0.08)
      ? ` @${shape.pick(["include", "skip"])}(if: ${shape.chance(0.8) ? variable(boolean) : shape.pick(["true", "false"])})`
      : "";

  /** The document always has exactly one root field. */
  const isSubscription = kind === "subscription";

  const namedType = (type: TypeRef): TypeRef => (type.ofType === null ? type : namedType(type.ofType));

  const selection = (typeName: string, depth: number): string => {
    const fields = schema.type(typeName).fields ?? [];
    const leaves = fields.filter((field) => ["SCALAR", "ENUM"].includes(namedType(field.type).kind));
    const branches = depth >= 3 ? [] : fields.filter((field) => namedType(field.type).kind === "OBJECT");
    const chosenFields = [
      ...shape.sample(leaves, 1 + shape.int(3)),
      ...shape.sample(branches, depth === 0 ? 1 + shape.int(2) : shape.int(2)),
    ];
    const parts = chosenFields.map((field, index) => fieldText(field, depth, shape.chance(0.2) ? `a${index}: ` : ""));
    return `{ ${parts.length === 0 ? "__typename" : parts.join(" ")} }`;
  };

  const fieldText = (field: SchemaField, depth: number, alias: string): string => {
    const target = namedType(field.type);
    return `${alias}${field.name}${drawArguments(field)}${isSubscription && depth === 0 ? "" : directive()}${target.kind === "OBJECT" ? ` ${selection(target.name!, depth + 1)}` : ""}`;
  };

  const operation = schema.roots[kind] === undefined ? "query" : kind;
  const root = schema.roots[operation] ?? schema.roots.query;
  // No query corresponds to a stream.
  const rootFields = (schema.type(root).fields ?? []).filter(
    ({ name }) => name !== "no_queries_available" && !name.endsWith("_stream"),
  );
  const fields = shape.sample(rootFields, shape.chance(0.85) || isSubscription ? 1 : 2);
  const body =
    fields.length === 0
      ? "{ __typename }"
      : `{ ${fields.map((field, index) => fieldText(field, 0, fields.length > 1 ? `r${index}: ` : "")).join(" ")} }`;
  return {
    query: `${operation}${declarations.length === 0 ? "" : ` (${declarations.join(", ")})`} ${body}`,
    variables,
  };
};

export const graphqlRequest = (
  { query, variables }: DrawnDocument,
  role?: string,
  session?: Readonly<Record<string, string>>,
): OracleRequest => ({
  method: "POST",
  path: "/v1/graphql",
  headers: asAdmin(role, session),
  body: { query, variables },
});
