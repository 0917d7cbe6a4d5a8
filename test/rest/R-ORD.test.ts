import { describe, expect } from "vitest";
import { definePlugin } from "../../core/index.ts";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const ids = (...list: readonly number[]) => list.map((id) => ({ id }));
const names = (...list: readonly string[]) => list.map((name) => ({ name }));

cases(api, [
  {
    title: "R-ORD-1 rows are sorted in ascending order by default",
    request: "GET /vessels?select=id&order=tonnage",
    answer: ids(3, 2, 1),
  },
  {
    title: "R-ORD-1 desc sorts in descending order",
    request: "GET /vessels?select=id&order=tonnage.desc",
    answer: ids(1, 2, 3),
  },
  {
    title: "R-ORD-1 an order may have several terms",
    request: "GET /vessels?select=id&order=home_port_id.asc,tonnage.desc",
    answer: ids(1, 2, 3),
  },
  {
    title: "R-ORD-1 ascending order puts nulls last",
    request: "GET /vessels?select=id&order=home_port_id,id",
    answer: ids(1, 2, 3),
  },
  {
    title: "R-ORD-1 descending order puts nulls first",
    request: "GET /vessels?select=id&order=home_port_id.desc,id",
    answer: ids(3, 1, 2),
  },
  {
    title: "R-ORD-1 asc.nullsfirst puts nulls first",
    request: "GET /vessels?select=id&order=home_port_id.asc.nullsfirst,id",
    answer: ids(3, 1, 2),
  },
  {
    title: "R-ORD-1 desc.nullslast puts nulls last",
    request: "GET /vessels?select=id&order=home_port_id.desc.nullslast,id",
    answer: ids(1, 2, 3),
  },
  {
    title: "R-ORD-1 nullsfirst without a direction puts nulls first",
    request: "GET /vessels?select=id&order=home_port_id.nullsfirst,id",
    answer: ids(3, 1, 2),
  },
  {
    title: "R-ORD-1 rows may be ordered by a JSON path",
    request: "GET /vessels?select=id&order=specs->engine->kw.desc.nullslast",
    answer: ids(1, 2, 3),
  },
  {
    title: "R-ORD-1 rows may be ordered by a quoted name",
    request: 'GET /order?select=select&order="order".desc',
    answer: [{ select: 1 }],
  },
  {
    title: "R-ORD-1 rows may be ordered by a column that is not selected",
    request: "GET /vessels?select=name&order=tonnage",
    answer: names("Gjoa", "Fram", "Ariel"),
  },
  {
    title: "R-ORD-2 the rows of an embed are ordered",
    request: "GET /ports?select=name,vessels(name)&vessels.order=tonnage&id=eq.1",
    answer: [{ name: "Oslo", vessels: names("Fram", "Ariel") }],
  },
  {
    title: "R-ORD-2 the rows of a nested embed are ordered",
    request: "GET /ports?select=vessels(crew(rank))&vessels.crew.order=rank.desc&vessels.order=id&id=eq.1",
    answer: [{ vessels: [{ crew: [{ rank: "mate" }, { rank: "captain" }] }, { crew: [{ rank: "captain" }] }] }],
  },
  {
    title: "R-ORD-2 an order of a to-one embed is accepted",
    request: "GET /vessels?select=id,ports(name)&ports.order=name&id=eq.1",
    answer: [{ id: 1, ports: { name: "Oslo" } }],
  },
  {
    title: "R-ORD-3 rows may be ordered by a column of a to-one embed",
    request: "GET /voyages?select=id,vessels(name)&order=vessels(name).desc,id",
    answer: [
      { id: 3, vessels: { name: "Fram" } },
      { id: 1, vessels: { name: "Ariel" } },
      { id: 2, vessels: { name: "Ariel" } },
    ],
  },
  {
    title: "R-ORD-3 an order names an embed by its alias",
    request: "GET /voyages?select=id,ship:vessels(name)&order=ship(name).desc,id.desc",
    answer: [
      { id: 3, ship: { name: "Fram" } },
      { id: 2, ship: { name: "Ariel" } },
      { id: 1, ship: { name: "Ariel" } },
    ],
  },
  {
    title: "R-ORD-3 an order rejects the written name of an aliased embed",
    request: "GET /voyages?select=id,ship:vessels(name)&order=vessels(name)",
    status: 400,
    answer: {
      code: "PGRST108",
      details: null,
      hint: "Verify that 'vessels' is included in the 'select' query parameter.",
      message: "'vessels' is not an embedded resource in this request",
    },
  },
  {
    title: "R-ORD-3 R-ORD-3a an order by a relation that is not embedded is rejected",
    request: "GET /vessels?select=id&order=ports(name)",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST108"),
  },
  {
    title: "R-ORD-3 R-ORD-3a an order by a to-many embed is rejected",
    request: "GET /ports?select=id,vessels(name)&order=vessels(name)",
    status: 400,
    answer: {
      code: "PGRST118",
      details: "'ports' and 'vessels' do not form a many-to-one or one-to-one relationship",
      hint: null,
      message: "A related order on 'vessels' is not possible",
    },
  },
  {
    title: "R-ORD-3 embedded rows may be ordered by their own embed",
    request: "GET /ports?select=id,vessels(id,registrations(number))&vessels.order=registrations(number).desc&id=eq.1",
    answer: [
      {
        id: 1,
        vessels: [
          { id: 2, registrations: { number: "R-202" } },
          { id: 1, registrations: { number: "R-101" } },
        ],
      },
    ],
  },
  {
    title: "R-ORD-3 rows may be ordered by a one-to-one embed",
    request: "GET /vessels?select=id,registrations(number)&order=registrations(number).desc.nullslast",
    answer: [
      { id: 2, registrations: { number: "R-202" } },
      { id: 1, registrations: { number: "R-101" } },
      { id: 3, registrations: null },
    ],
  },
  {
    title: "R-ORD-3 rows may be ordered by an embed and a column of the relation",
    request: "GET /vessels?select=id,ports(country)&order=ports(country).desc,name",
    answer: [
      { id: 3, ports: null },
      { id: 1, ports: { country: "NO" } },
      { id: 2, ports: { country: "NO" } },
    ],
  },
  {
    title: "R-ORD-3 rows may be ordered by a spread",
    request: "GET /voyages?select=id,...vessels(ship:name)&order=vessels(ship).desc,id",
    answer: [
      { id: 3, ship: "Fram" },
      { id: 1, ship: "Ariel" },
      { id: 2, ship: "Ariel" },
    ],
  },
  {
    title: "R-ORD-3 an order by an embed with a limit includes rows without a related row",
    request: "GET /vessels?select=id,ports(country)&order=ports(country).desc,name&limit=2",
    answer: [
      { id: 3, ports: null },
      { id: 1, ports: { country: "NO" } },
    ],
  },
  {
    title: "R-ORD-3 an order by an embed applies with a limit and a filter on the embed",
    request:
      "GET /voyages?select=id,vessels(name)&vessels.name=eq.Ariel&order=vessels(name).nullsfirst,id.desc&limit=2",
    answer: [
      { id: 3, vessels: null },
      { id: 2, vessels: { name: "Ariel" } },
    ],
  },
  {
    title: "R-ORD-3 an order by an inner embed applies with a limit and an offset",
    request:
      "GET /voyages?select=id,vessels!inner(name)&vessels.name=eq.Ariel&order=vessels(name),id.desc&limit=2&offset=1",
    answer: [{ id: 1, vessels: { name: "Ariel" } }],
  },
  {
    title: "R-ORD-3 an order by an embed applies with a limit and a nested embed",
    request: "GET /voyages?select=id,vessels(name,ports(country))&order=vessels(name).desc,id&limit=2",
    answer: [
      { id: 3, vessels: { name: "Fram", ports: { country: "NO" } } },
      { id: 1, vessels: { name: "Ariel", ports: { country: "NO" } } },
    ],
  },
  {
    title: "R-ORD-3 embedded rows with a limit may be ordered by their own embed",
    request:
      "GET /ports?select=id,vessels(id,registrations(number))&vessels.order=registrations(number).desc&vessels.limit=1&id=eq.1",
    answer: [{ id: 1, vessels: [{ id: 2, registrations: { number: "R-202" } }] }],
  },
  {
    title: "R-ORD-4 an order by an embed uses an output key of the embed",
    request: "GET /voyages?select=id,vessels(called:name)&order=vessels(called).desc,id&limit=1",
    answer: [{ id: 3, vessels: { called: "Fram" } }],
  },
  {
    title: "R-ORD-4 an order by a column that the embed does not select is rejected",
    request: "GET /voyages?select=id,vessels(name)&order=vessels(tonnage)",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("42703"),
  },
  {
    title: "R-ORD-4 an empty embed can be ordered by any of its columns",
    request: "GET /voyages?select=id,vessels()&order=vessels(tonnage),id",
    answer: ids(3, 1, 2),
  },
  {
    title: "R-ORD-4 an order by an embed applies a JSON path directly",
    request: "GET /voyages?select=id,vessels(specs)&order=vessels(specs->engine->>maker),id&limit=1",
    check: (answer) => expect(answer.json()[0].id).toBe(3),
  },
  {
    title: "R-ORD-4 an order by a JSON path on a type without arrow operators is rejected",
    request: "GET /voyages?select=id,vessels(flags)&order=vessels(flags->0)",
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("42883"),
  },
  {
    title: "R-ORD-5 rows may be ordered by a computed field",
    request: "GET /vessels?select=id&order=heavy,id",
    answer: ids(3, 1, 2),
  },
  {
    title: "R-ORD-5 embedded rows may be ordered by a computed field",
    request: "GET /ports?select=id,vessels(id)&vessels.order=label.desc&id=eq.1",
    answer: [{ id: 1, vessels: ids(2, 1) }],
  },
  {
    title: "R-ORD-6 the representation of a write is sorted",
    request: "PATCH /vessels?select=id&order=tonnage&tonnage=not.is.null",
    headers: { prefer: "return=representation, tx=rollback" },
    body: { flags: [] },
    answer: ids(3, 2, 1),
  },
]);

describe("an embedding mode without a join", async () => {
  const flat = definePlugin({
    name: "flat-embeds",
    embeds: [
      {
        mode: "flat",
        rest: { prefix: "=" },
        compile: (embed, context) => ({ columns: [{ as: embed.as, value: context.object() }] }),
      },
    ],
  });
  const ownApi = await startApi({ parts: [flat] });
  cases(ownApi, [
    {
      title: "R-ORD-3 an embedding mode of a plugin embeds rows",
      request: "GET /voyages?select=id,=vessels(name)&id=eq.1",
      answer: [{ id: 1, vessels: { name: "Ariel" } }],
    },
    {
      title: "R-ORD-3 R-ORD-3a an order by an embedding mode without a join is rejected",
      request: "GET /voyages?select=id,=vessels(name)&order=vessels(name)",
      status: 400,
      answer: {
        code: "PGRST118",
        details: "'vessels' is embedded in a way that offers no columns to sort by",
        hint: null,
        message: "A related order on 'vessels' is not possible",
      },
    },
  ]);
});
