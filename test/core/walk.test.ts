/** The traversals of plans: every part is visited, on the right relation, and nothing changes without a change. */
import { beforeAll, describe, expect, test } from "vitest";
import {
  mapPlan,
  visitPlan,
  type Model,
  type Plan,
  type Read,
  type Relation,
  type Relationship,
} from "../../core/index.ts";
import { buildNameKey } from "../../core/model/model.ts";

const seaName = (name: string) => ({ schema: "sea", name });

const relationship = (id: string, target: string, overrides: Partial<Relationship> = {}): Relationship => ({
  id,
  cardinality: "many-to-one",
  isToOne: true,
  source: seaName("voyages"),
  target: seaName(target),
  columns: [["a", "b"]],
  constraint: id,
  isOwnKey: true,
  ...overrides,
});

const relation = (
  name: string,
  relationships: readonly Relationship[] = [],
  kind: Relation["kind"] = "table",
  // The walk reads this part.
): Relation => ({ ...seaName(name), kind, relationships, columns: [] }) as unknown as Relation;

let model: Model;
beforeAll(() => {
  const relations = [
    relation("voyages", [
      relationship("vessel", "vessels"),
      relationship("crew", "sailors", {
        junction: { relation: seaName("crew"), sourceConstraint: "", targetConstraint: "", source: [], target: [] },
      }),
    ]),
    relation("vessels", [relationship("port", "ports"), relationship("computed", "ports", { routine: seaName("f") })]),
    relation("ports"),
    relation("sailors"),
    relation("crew"),
    relation("fleet", [], "view"),
  ];
  model = {
    relations: new Map(relations.map((entry) => [buildNameKey(entry), entry])),
    routines: new Map(),
  } as unknown as Model; // the walk reads this part
});

const column = (name: string) => ({ kind: "column", name }) as const;
const compare = (name: string, param: number) =>
  ({ kind: "compare", left: column(name), operator: "eq", operand: { param } }) as const;

/** Every kind of node, each with a different value. */
const plan: Read = {
  kind: "read",
  from: { relation: seaName("voyages") },
  shape: "rows",
  output: [
    { kind: "all" },
    { kind: "constant", as: "c", value: "x" },
    {
      kind: "value",
      as: "v",
      value: {
        kind: "masked",
        value: {
          kind: "cast",
          type: "text",
          value: {
            kind: "apply",
            function: "f",
            value: { ...column("a"), path: [{ arrow: "->", key: { param: 1 } }] },
          },
        },
        when: compare("b", 2),
      },
    },
    {
      kind: "value",
      as: "w",
      value: { kind: "computed", routine: seaName("f"), arguments: [{ value: { param: 3 } }] },
    },
    {
      kind: "aggregate",
      as: "s",
      fn: "sum",
      expressions: [
        {
          kind: "related-aggregate",
          relationship: "vessel",
          fn: "sum",
          expressions: [column("tonnage")],
          where: compare("d", 4),
        },
      ],
    },
    {
      kind: "object",
      as: "o",
      outputs: [{ kind: "nodes", as: "n", outputs: [{ kind: "value", as: "e", value: column("e") }] }],
    },
    {
      kind: "embed",
      as: "vessel",
      id: "e1",
      mode: "nest",
      via: { relationship: "vessel" },
      join: "left",
      read: {
        kind: "read",
        from: { relation: seaName("vessels") },
        shape: "rows",
        output: [{ kind: "value", as: "f", value: column("f") }],
        where: { kind: "related", relationship: "port", where: compare("g", 5) },
      },
    },
  ],
  where: {
    kind: "and",
    predicates: [
      {
        kind: "not",
        predicate: {
          kind: "related",
          relationship: "crew",
          where: {
            kind: "compare",
            left: column("h"),
            operator: "eq",
            operand: { expression: { kind: "related", relationship: "x", value: column("i") } },
            option: { param: 6 },
          },
        },
      },
      {
        kind: "or",
        predicates: [
          { kind: "exists", from: seaName("fleet"), where: compare("j", 7) },
          { kind: "embedded", embed: "e1", isNull: true },
        ],
      },
      { kind: "computed-rows", routine: seaName("g"), target: seaName("ports"), where: compare("k", 8) },
      {
        kind: "compare",
        left: column("l"),
        operator: "in",
        operand: { items: [{ param: 9 }, { fields: { x: { param: 10 }, y: { param: 11 } } }] },
      },
      {
        kind: "keyset",
        order: [{ expression: column("n") }, { expression: column("o") }],
        values: [{ param: 15 }, null],
      },
    ],
  },
  orderBy: [{ expression: { kind: "embedded", embed: "e1", name: "f", path: [{ arrow: "->", key: { param: 12 } }] } }],
  distinctOn: [column("m")],
  limit: { param: 13 },
  offset: { param: 14 },
  notes: { mine: { param: 16 } },
};

const writes: Plan = {
  kind: "sequence",
  steps: [
    {
      write: {
        kind: "insert",
        into: seaName("voyages"),
        rows: { cells: [{ column: "a", value: { param: 1 } }, { column: "b" }] },
        set: [{ column: "c", value: { param: 2 } }],
        check: compare("d", 3),
        onlyKeys: [{ column: "e", value: { param: 4 } }],
        onConflict: {
          target: { columns: ["a"] },
          update: [],
          set: [{ column: "f", value: { param: 5 } }],
          where: compare("g", 6),
          check: compare("h", 7),
        },
      },
    },
    {
      write: {
        kind: "insert",
        into: seaName("vessels"),
        rows: { payload: { param: 8 }, shape: "array", columns: [], missing: "null" },
      },
    },
    {
      write: {
        kind: "update",
        relation: seaName("vessels"),
        where: compare("i", 9),
        assignments: [{ column: "j", operator: "inc", operand: { param: 10 } }],
      },
    },
    {
      write: {
        kind: "delete",
        from: seaName("ports"),
        where: compare("k", 11),
        returning: {
          kind: "read",
          from: { written: seaName("ports") },
          shape: "rows",
          output: [],
          limit: { param: 12 },
        },
      },
    },
  ],
  result: {
    kind: "read",
    from: { written: seaName("voyages"), steps: [0] },
    shape: "rows",
    output: [{ kind: "affected", as: "n" }],
    where: compare("l", 13),
  },
};

const call: Plan = {
  kind: "bundle",
  fields: [
    { as: "t", value: "x" },
    {
      as: "b",
      bundle: {
        kind: "bundle",
        fields: [
          {
            as: "r",
            read: {
              kind: "read",
              from: {
                call: {
                  routine: seaName("f"),
                  oid: 1,
                  arguments: [{ name: "a", value: { param: 1 } }],
                  payload: { json: { param: 2 }, shape: "object", names: [] },
                },
              },
              shape: "rows",
              output: [],
            },
          },
        ],
      },
    },
  ],
};

const params = (walkedPlan: Plan): readonly number[] => {
  const slots: number[] = [];
  visitPlan(walkedPlan, model, { value: (ref) => void ("param" in ref && slots.push(ref.param)) });
  return slots.sort((a, b) => a - b);
};

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i + 1);

describe("plan walk", () => {
  test("X-ROW-1b visitPlan reaches every value once", () => {
    expect(params(plan)).toEqual(upTo(16));
    expect(params(writes)).toEqual(upTo(13));
    expect(params(call)).toEqual(upTo(2));
    expect(
      params({
        kind: "call",
        call: { routine: seaName("f"), oid: 1, arguments: [{ value: { param: 1 } }] },
        returns: "rows",
        result: { ...plan, limit: undefined, offset: undefined },
      }),
    ).toHaveLength(15);
  });

  test("X-ROW-1b visitPlan passes each column with its own relation", () => {
    const relationsByColumn: Record<string, string | undefined> = {};
    visitPlan(plan, model, {
      expression: (expression, { relation: columnRelation, root }) =>
        void (
          expression.kind === "column" &&
          (relationsByColumn[expression.name] = `${columnRelation?.name} in ${root?.name}`)
        ),
    });
    expect(relationsByColumn).toEqual({
      a: "voyages in voyages",
      b: "voyages in voyages",
      tonnage: "vessels in voyages",
      d: "vessels in voyages",
      e: "voyages in voyages",
      f: "vessels in vessels",
      g: "ports in vessels",
      h: "sailors in voyages",
      i: "undefined in voyages",
      j: "fleet in voyages",
      k: "ports in voyages",
      l: "voyages in voyages",
      m: "voyages in voyages",
      n: "voyages in voyages",
      o: "voyages in voyages",
    });
  });

  test("X-ROW-1b mapPlan returns the same object if nothing changes", () => {
    for (const input of [plan, writes, call])
      expect(
        mapPlan(input, model, { value: (ref) => ref, read: (read) => read, predicate: (predicate) => predicate }),
      ).toBe(input);
  });

  test("X-ROW-1b mapPlan copies only the nodes on the path of a change, with their keys in order", () => {
    const next = mapPlan(plan, model, { value: (ref) => ("param" in ref && ref.param === 5 ? { param: 50 } : ref) });
    expect(next).not.toBe(plan);
    expect(JSON.stringify(next)).toBe(JSON.stringify(plan).replace('"param":5}', '"param":50}'));
    expect(next.where).toBe(plan.where);
    expect(next.output[0]).toBe(plan.output[0]);
  });

  test("X-ROW-1b mapPlan adds filters to every read by its relation", () => {
    const filteredPlan = mapPlan(plan, model, {
      read: (read, { relation: readRelation }) => ({
        ...read,
        where: {
          kind: "and",
          predicates: [...(read.where === undefined ? [] : [read.where]), compare(`only_${readRelation?.name}`, 99)],
        },
      }),
    });
    const addedColumns: string[] = [];
    visitPlan(filteredPlan, model, {
      expression: (expression) =>
        void (
          expression.kind === "column" &&
          expression.name.startsWith("only_") &&
          addedColumns.push(expression.name)
        ),
    });
    expect(addedColumns.sort()).toEqual(["only_vessels", "only_voyages"]);
  });
});
