/** Arguments of plugins that add writes to updates, and the steps of sequences of writes. */
import { GraphQLBoolean, GraphQLString } from "graphql";
import { beforeEach, describe, expect, test } from "vitest";
import { definePlugin } from "../../core/index.ts";
import type {
  GqlFieldContext,
  GqlFields,
  GqlUpdateAdditions,
  GqlInput,
  GqlPart,
  GqlWriting,
} from "../../plugins/graphql/api.ts";
import { forGraphql, startApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";

const database = await testDatabase();
await database.query(`
  create table public.piece (id int primary key, name text not null, shown boolean);
  create table public.part (id int primary key, piece_id int, name text);
  create table public.piece_log (id serial primary key, piece_id int not null, reason text);
`);
beforeEach(() =>
  database.query(`truncate public.piece, public.part, public.piece_log;
    insert into public.piece values (1, 'One'), (2, 'Two'), (3, 'Three');
    insert into public.part values (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, null, 'd')`),
);

const publicTable = (name: string) => ({ schema: "public", name });
const eq = (name: string, constant: string) =>
  ({ kind: "compare", left: { kind: "column", name }, operator: "eq", operand: { constant, type: "int" } }) as const;

/** `_reason: "…"`: adds a log row for the one piece. */
const log =
  (context: GqlFieldContext) =>
  (input: GqlInput, writing: GqlWriting): GqlUpdateAdditions | undefined => {
    const text = context.build.valueType("text");
    if (input.isNull || text === undefined) return undefined;
    return {
      requires: [
        { message: "nothing to log", path: input.path },
        { atMost: 1, message: "too much to log", path: input.path },
      ],
      addLaterSteps: (step) => {
        const cells = [
          { column: "piece_id", value: { step, column: "id", type: "int" } },
          { column: "reason", value: writing.bindValue(input, text) },
        ];
        const write = { kind: "insert", into: publicTable("piece_log"), rows: { cells } } as const;
        writing.addStep(() => ({ write, path: input.path }));
      },
    };
  };

/**
 * `_from_third: true`: takes the name of piece 3, which is deleted. Then the parts get the name, and the pieces are
 * read.
 */
const fromThird = (input: GqlInput, writing: GqlWriting): GqlUpdateAdditions | undefined => {
  if (!input.isTrue()) return undefined;
  const thirdPiece = { kind: "read", from: { relation: publicTable("piece") }, shape: "rows", output: [] } as const;
  const step = writing.addStep((thisStep) => ({
    write: { ...thirdPiece, where: eq("id", "3") },
    path: input.path,
    requires: [{ step: thisStep, message: "piece 3 is gone", path: input.path }],
  }));
  const operand = { step, column: "name", type: "text" };
  return {
    assignments: [{ column: "name", operator: "set", operand }],
    addLaterSteps: (update) => {
      writing.addStep(() => ({ write: { kind: "delete", from: publicTable("piece"), where: eq("id", "3") } }));
      const ofPieces = { kind: "written", step: update, columns: [["piece_id", "id"]] } as const;
      const assignments = [{ column: "name", operator: "set", operand }];
      writing.addStep(() => ({
        write: { kind: "update", relation: publicTable("part"), where: ofPieces, assignments },
      }));
      const samePiece = { kind: "written", step: update, columns: [["id", "id"]] } as const;
      const shownAssignments = [{ column: "shown", operator: "set", operand: { constant: "true", type: "boolean" } }];
      writing.addStep(() => ({
        write: { kind: "update", relation: publicTable("piece"), where: samePiece, assignments: shownAssignments },
        rewrittenStep: update,
      }));
    },
  };
};

const updateAdditions = definePlugin({
  name: "update-additions",
  requires: ["graphql-updates"],
  apply: (hooks) =>
    hooks.buildGqlField.tap("update-additions", (fields: GqlFields, context: GqlFieldContext): GqlFields => {
      const reason: GqlPart = { kind: "update-additions", writes: log(context) };
      const thirdPart: GqlPart = { kind: "update-additions", writes: fromThird };
      if (context.scope === "updates" && context.relation?.name === "piece")
        return { ...fields, _reason: { config: { type: GraphQLString }, toPlan: reason } };
      if (context.scope !== "mutation_root") return fields;
      const entries = Object.entries(fields).map(([name, field]) => {
        const isUpdate = field.toPlan.kind === "update" || field.toPlan.kind === "update-by-pk";
        if (!isUpdate || !name.startsWith("update_piece") || name.startsWith("update_piece_log")) return [name, field];
        const args = {
          ...("args" in field.config ? field.config.args : {}),
          _reason: { type: GraphQLString, extensions: { relapi: reason } },
          _from_third: { type: GraphQLBoolean, extensions: { relapi: thirdPart } },
        };
        return [name, { ...field, config: { ...field.config, args } }];
      });
      return Object.fromEntries(entries) as GqlFields;
    }),
});

const api = await startApi(forGraphql({ parts: [updateAdditions] }));
const write = async (text: string): Promise<any> => {
  const { data, errors } = await api.gql(`mutation { ${text} }`);
  return errors === undefined ? Object.values(data)[0] : `${errors[0].extensions.path}: ${errors[0].message}`;
};
const loggedReasons = async (): Promise<unknown> =>
  (await database.query("select reason from public.piece_log")).map(({ reason }) => reason);

describe("arguments of plugins in updates", () => {
  test("X-GQL-10 arguments of a plugin add steps to each kind of update", async () => {
    expect(
      await write('update_piece_by_pk(pk_columns: {id: 1}, _set: {name: "I"}, _reason: "by key") { name }'),
    ).toEqual({
      name: "I",
    });
    expect(
      await write('update_piece(where: {id: {_eq: 2}}, _set: {name: "II"}, _reason: "by where") { affected_rows }'),
    ).toEqual({ affected_rows: 2 });
    expect(
      await write(`update_piece_many(updates: [
        {where: {id: {_eq: 3}}, _set: {name: "III"}, _reason: "of many"}, {where: {id: {_eq: 1}}, _set: {name: "i"}}
      ]) { affected_rows }`),
    ).toEqual([{ affected_rows: 2 }, { affected_rows: 1 }]);
    expect(await loggedReasons()).toEqual(["by key", "by where", "of many"]);
  });

  test("X-GQL-10 an argument that adds no step changes nothing", async () => {
    expect(await write("update_piece_by_pk(pk_columns: {id: 1}, _reason: null) { name }")).toBeNull();
    expect(await write("update_piece(where: {}, _from_third: false) { affected_rows }")).toEqual({ affected_rows: 0 });
    expect(await loggedReasons()).toEqual([]);
  });

  test("X-GQL-10 X-SEQ-2 X-SEQ-4 an update without columns finds its rows and does not count them", async () => {
    expect(
      await write('update_piece(where: {id: {_eq: 1}}, _reason: "seen") { affected_rows returning { name } }'),
    ).toEqual({
      affected_rows: 1,
      returning: [{ name: "One" }],
    });
  });

  test("X-GQL-10 a column that an operator sets too is rejected", async () => {
    expect(await write('update_piece(where: {}, _set: {name: "x"}, _from_third: true) { affected_rows }')).toBe(
      "$.selectionSet.update_piece.args: Column found in multiple operators: ['name'].",
    );
  });
});

describe("sequences", () => {
  test("X-SEQ-1 X-SEQ-2 X-SEQ-4 steps use rows of earlier steps, rows found by a read, and rows written twice", async () => {
    expect(
      await write(
        "update_piece(where: {id: {_lt: 3}}, _from_third: true) { affected_rows returning { id name shown } }",
      ),
    ).toEqual({
      affected_rows: 6, // two pieces, once each; one deleted; three parts
      returning: [
        { id: 1, name: "Three", shown: true },
        { id: 2, name: "Three", shown: true },
      ],
    });
    expect(await database.query("select name from public.part order by id")).toEqual(
      ["Three", "Three", "Three", "d"].map((name) => ({ name })),
    );
  });

  test("X-SEQ-3 a step may require rows and limit their number", async () => {
    const path = "$.selectionSet.update_piece.args";
    expect(await write('update_piece(where: {id: {_eq: 9}}, _reason: "x") { affected_rows }')).toBe(
      `${path}._reason: nothing to log`,
    );
    expect(await write('update_piece(where: {}, _set: {name: "x"}, _reason: "x") { affected_rows }')).toBe(
      `${path}._reason: too much to log`,
    );
    await database.query("delete from public.piece where id = 3");
    expect(await write("update_piece(where: {}, _from_third: true) { affected_rows }")).toBe(
      `${path}._from_third: piece 3 is gone`,
    );
    expect(await database.query("select name from public.piece order by id")).toEqual([
      { name: "One" },
      { name: "Two" },
    ]);
  });
});
