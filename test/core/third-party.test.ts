/** A third-party plugin: an operator in a few lines, on both surfaces, without any other change. */
import { expect, test } from "vitest";
import { definePlugin, sql } from "../../core/index.ts";
import { forGraphql, startApi } from "../support/api.ts";

const fuzzyOperator = definePlugin({
  name: "fuzzy-operator",
  operators: [
    {
      name: "fuzzy",
      types: ["text"],
      operand: "scalar",
      compile: (column, operand) => sql`public.similarity(${column}, ${operand}) > 0.3`,
    },
  ],
});

const rest = await startApi({ parts: [fuzzyOperator] });
const graphql = await startApi(forGraphql({ parts: [fuzzyOperator] }));
const plainApi = await startApi();

test("R-FLT-1 an operator of a plugin works in REST filters, negated and in trees", async () => {
  expect((await rest.get("/vessels?select=name&name=fuzzy.Ariell")).json()).toEqual([{ name: "Ariel" }]);
  expect(
    (await rest.get("/vessels?select=name&or=(name.fuzzy.Arial,name.not.fuzzy.xyz)&order=id")).json(),
  ).toHaveLength(3);
});

test("G-OP-1 only the comparison type of text offers the same operator", async () => {
  const answer = await graphql.gql('{ artist(where: {name: {_fuzzy: "Bjorc"}}) { name } }');
  expect(answer).toEqual({ data: { artist: [{ name: "Bjork" }] } });
  const rejection = await graphql.gql("{ artist(where: {id: {_fuzzy: 1}}) { name } }");
  expect(rejection.errors[0]).toEqual({
    message: "field '_fuzzy' not found in type: 'Int_comparison_exp'",
    extensions: { path: "$.selectionSet.artist.args.where.id._fuzzy", code: "validation-failed" },
  });
});

test("R-LEX-11 without the plugin the operator is unknown", async () => {
  const answer = await plainApi.get("/vessels?name=fuzzy.x");
  expect(answer.status).toBe(400);
  expect(answer.json().code).toBe("PGRST100");
});
