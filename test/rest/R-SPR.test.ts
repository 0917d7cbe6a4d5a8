import { describe, expect, test } from "vitest";
import { compose, without } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { rolledBack, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();
const aggregatesApi = await startApi({ dbAggregatesEnabled: true });

const notImplemented = {
  code: "PGRST127",
  details: "Aggregates are not implemented for one-to-many or many-to-many spreads.",
  hint: null,
  message: "Feature not implemented",
};

cases(api, [
  {
    title: "R-SPR-1 a to-one spread adds its columns to the parent",
    request: "GET /voyages?select=id,...vessels(vessel:name)&order=id",
    answer: [
      { id: 1, vessel: "Ariel" },
      { id: 2, vessel: "Ariel" },
      { id: 3, vessel: "Fram" },
    ],
  },
  {
    title: "R-SPR-1 a to-one spread without a related row gives null",
    request: "GET /vessels?select=name,...ports(country)&order=id",
    answer: [
      { name: "Ariel", country: "NO" },
      { name: "Fram", country: "NO" },
      { name: "Gjoa", country: null },
    ],
  },
  {
    title: "R-SPR-1 a to-many spread gives an array for each column",
    request: "GET /ports?select=name,...vessels(ships:name,tonnage)&vessels.order=id&order=id",
    answer: [
      { name: "Oslo", ships: ["Ariel", "Fram"], tonnage: [853, 402] },
      { name: "Leith", ships: [], tonnage: [] },
    ],
  },
  {
    title: "R-SPR-1 a to-many spread keeps the null of its one row",
    request: "GET /vessels?select=name,...voyages(fares:fare)&id=eq.2",
    answer: [{ name: "Fram", fares: [null] }],
  },
  {
    title: "R-SPR-1 a many-to-many spread gives an array for each column",
    request: "GET /vessels?select=name,...sailors(hands:name)&sailors.order=id&order=id",
    answer: [
      { name: "Ariel", hands: ["Ada", "Bo"] },
      { name: "Fram", hands: ["Cy"] },
      { name: "Gjoa", hands: [] },
    ],
  },
  {
    title: "R-SPR-1 a one-to-one spread adds its columns to the parent",
    request: "GET /vessels?select=name,...registrations(number)&order=id",
    answer: [
      { name: "Ariel", number: "R-101" },
      { name: "Fram", number: "R-202" },
      { name: "Gjoa", number: null },
    ],
  },
  {
    title: "R-SPR-1 computed relationships can be spread",
    request: "GET /ports?select=name,...flagship(best:name),...heavy_vessels(heavy:name)&id=eq.1",
    answer: [{ name: "Oslo", best: "Ariel", heavy: ["Ariel", "Fram"] }],
  },
  {
    title: "R-SPR-2 a spread with an alias is rejected",
    request: "GET /vessels?select=name,x:...ports(name)",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST100"),
  },
  {
    title: "R-SPR-2 parameters name a spread by its written name",
    request: "GET /ports?select=name,...vessels(ships:name)&vessels.tonnage=gt.500&order=id",
    answer: [
      { name: "Oslo", ships: ["Ariel"] },
      { name: "Leith", ships: [] },
    ],
  },
  {
    title: "R-SPR-2 a spread may have an embed hint",
    request: "GET /voyages?select=id,...ports!origin_id(from:name)&id=eq.2",
    answer: [{ id: 2, from: "Leith" }],
  },
  {
    title: "R-SPR-2 an inner to-one spread removes parents",
    request: "GET /vessels?select=name,...ports!inner(country)&order=id",
    answer: [
      { name: "Ariel", country: "NO" },
      { name: "Fram", country: "NO" },
    ],
  },
  {
    title: "R-SPR-2 an inner to-many spread removes parents",
    request: "GET /ports?select=name,...vessels!inner(ships:name)&vessels.tonnage=gt.500",
    answer: [{ name: "Oslo", ships: ["Ariel"] }],
  },
  {
    title: "R-SPR-2 a filter on a to-one spread removes no parents",
    request: "GET /vessels?select=name,...ports(country)&ports.country=eq.GB&id=eq.1",
    answer: [{ name: "Ariel", country: null }],
  },
  {
    title: "R-SPR-2 a limit applies to a to-many spread",
    request: "GET /ports?select=...vessels(ships:name)&vessels.order=id&vessels.limit=1&id=eq.1",
    answer: [{ ships: ["Ariel"] }],
  },
  {
    title: "R-SPR-2 a null filter applies to a spread",
    request: "GET /ports?select=name,...vessels(ships:name)&vessels=is.null",
    answer: [{ name: "Leith", ships: [] }],
  },
  {
    title: "R-SPR-3 a star in a to-one spread adds every column",
    request: "GET /voyages?select=voyage:id,...ports!origin_id(*)&id=eq.2",
    answer: [{ voyage: 2, id: 2, name: "Leith", country: "GB" }],
  },
  {
    title: "R-SPR-3 a star in a to-many spread gives an array for each column",
    request: "GET /vessels?select=vessel:name,...crew(*)&crew.order=sailor_id&id=eq.1",
    answer: [{ vessel: "Ariel", vessel_id: [1, 1], sailor_id: [1, 2], rank: ["captain", "mate"] }],
  },
  {
    title: "R-SPR-3 a star in a nested to-one spread adds every column",
    request: "GET /voyages?select=voyage:id,...vessels(ship:name,...ports(*))&id=eq.1",
    answer: [{ voyage: 1, ship: "Ariel", id: 1, name: "Oslo", country: "NO" }],
  },
  {
    title: "R-SPR-3 a spread may contain only a nested spread with a star",
    request: "GET /voyages?select=voyage:id,...vessels(...ports(*))&id=eq.1",
    answer: [{ voyage: 1, id: 1, name: "Oslo", country: "NO" }],
  },
  {
    title: "R-SPR-3 stars on two levels of to-one spreads add the columns of both",
    request: "GET /voyages?select=...vessels(*,...ports(*))&id=eq.1",
    bytes:
      '[{"id":1,"name":"Ariel","tonnage":853,"home_port_id":1,"specs":{"crew": 24, "tags": ["a", "b"], "engine": {"kw": 550, "maker": "Burmeister"}},"flags":["PA","NO"],"id":1,"name":"Oslo","country":"NO"}]',
  },
  {
    title: "R-SPR-3 stars on two levels of to-many spreads give arrays for the columns of both",
    request:
      "GET /ports?select=port:name,...vessels(*,...crew(*))&vessels.order=id&vessels.crew.order=rank&vessels.id=eq.2&id=eq.1",
    answer: [
      {
        port: "Oslo",
        id: [2],
        name: ["Fram"],
        tonnage: [402],
        home_port_id: [1],
        specs: [{ crew: 12, tags: ["a"], engine: { kw: 220, maker: "Akers" } }],
        flags: [["NO"]],
        vessel_id: [[2]],
        sailor_id: [[3]],
        rank: [["captain"]],
      },
    ],
  },
  {
    title: "R-SPR-3 a star of a to-one spread in a to-many spread gives arrays",
    request: "GET /vessels?select=ship:name,...crew(rank,...sailors(*))&crew.order=rank&id=eq.1",
    answer: [{ ship: "Ariel", rank: ["captain", "mate"], id: [1, 2], name: ["Ada", "Bo"], mentor_id: [null, 1] }],
  },
  {
    title: "R-SPR-3 a star of a to-many spread in a to-one spread gives arrays",
    request: "GET /voyages?select=voyage:id,...vessels(...crew(*))&vessels.crew.order=rank&id=eq.1",
    answer: [{ voyage: 1, vessel_id: [1, 1], sailor_id: [1, 2], rank: ["captain", "mate"] }],
  },
  {
    title: "R-SPR-3 a star works in a spread three levels down",
    request:
      "GET /ports?select=port:name,...vessels(...crew(...sailors(*)))&vessels.order=id&vessels.crew.order=sailor_id&id=eq.1",
    answer: [{ port: "Oslo", id: [[1, 2], [3]], name: [["Ada", "Bo"], ["Cy"]], mentor_id: [[null, 1], [2]] }],
  },
  {
    title: "R-SPR-3 a star works in a many-to-many spread",
    request: "GET /vessels?select=ship:name,...sailors(*,...crew(rank))&sailors.order=id&id=eq.2",
    answer: [{ ship: "Fram", id: [3], name: ["Cy"], mentor_id: [2], rank: [["captain"]] }],
  },
  {
    title: "R-SPR-3 a star works in a spread of a view within itself",
    request: "GET /fleet?select=ship:name,...ports(port:name,...fleet(*))&ports.fleet.order=id&id=eq.1",
    answer: [{ ship: "Ariel", port: "Oslo", id: [1, 2], name: ["Ariel", "Fram"], home_port_id: [1, 1] }],
  },
  {
    title: "R-SPR-3 a star works beside computed fields, JSON paths and embeds",
    request:
      "GET /voyages?select=...vessels(heavy,specs->engine->>maker,...ports(*,label),registrations(number))&id=eq.1",
    answer: [
      {
        heavy: true,
        maker: "Burmeister",
        id: 1,
        name: "Oslo",
        country: "NO",
        label: "Oslo (NO)",
        registrations: { number: "R-101" },
      },
    ],
  },
  {
    title: "R-SPR-3 a star works with inner joins and filters",
    request:
      "GET /ports?select=port:name,...vessels!inner(ship:name,...registrations!inner(*))&vessels.registrations.number=eq.R-202",
    answer: [{ port: "Oslo", ship: ["Fram"], vessel_id: [2], number: ["R-202"] }],
  },
  {
    title: "R-SPR-3 two levels of to-one spreads may have the same key",
    request: "GET /voyages?select=...vessels(name,...ports(name))&id=eq.1",
    bytes: '[{"name":"Ariel","name":"Oslo"}]',
  },
  {
    title: "R-SPR-3 two levels of to-many spreads may have the same key, ordered by the inner one",
    request: "GET /vessels?select=...crew(name:rank,...sailors(name))&crew.order=sailors(name).desc&id=eq.1",
    bytes: '[{"name":["mate", "captain"],"name":["Bo", "Ada"]}]',
  },
  {
    title: "R-SPR-3 keys of a spread may equal internal names",
    request: "GET /voyages?select=...vessels(_v1:name,_v2:id,...ports(_v1:name,_v2:id))&id=eq.1",
    bytes: '[{"_v1":"Ariel","_v2":1,"_v1":"Oslo","_v2":1}]',
  },
  {
    title: "R-SPR-3 a representation may contain nested spreads",
    request: "PATCH /voyages?id=eq.1&select=id,...vessels(ship:name,...ports(*))",
    headers: rolledBack("return=representation"),
    body: { fare: 1 },
    bytes: '[{"id":1,"ship":"Ariel","id":1,"name":"Oslo","country":"NO"}]',
  },
  {
    title: "R-SPR-3 rows of a function may contain nested spreads",
    request: "GET /rpc/all_vessels?select=ship:name,...ports(*,...vessels(tonnage))&ports.vessels.order=id&id=eq.1",
    answer: [{ ship: "Ariel", id: 1, name: "Oslo", country: "NO", tonnage: [853, 402] }],
  },
  {
    title: "R-SPR-3 a spread may repeat a key of its parent",
    request: "GET /vessels?select=name,...ports(name)&id=eq.1",
    bytes: '[{"name":"Ariel","name":"Oslo"}]',
  },
  {
    title: "R-SPR-4 a to-one spread in a to-one spread adds its columns to the outer parent",
    request: "GET /voyages?select=id,...vessels(ship:name,...ports(home:name))&order=id",
    answer: [
      { id: 1, ship: "Ariel", home: "Oslo" },
      { id: 2, ship: "Ariel", home: "Oslo" },
      { id: 3, ship: "Fram", home: "Oslo" },
    ],
  },
  {
    title: "R-SPR-4 a to-one spread in a to-many spread gives an array with a value per row",
    request: "GET /vessels?select=name,...crew(rank,...sailors(hand:name))&crew.order=rank&id=eq.1",
    answer: [{ name: "Ariel", rank: ["captain", "mate"], hand: ["Ada", "Bo"] }],
  },
  {
    title: "R-SPR-4 a to-many spread in a to-many spread gives arrays of arrays",
    request:
      "GET /ports?select=name,...vessels(ship:name,...crew(rank))&vessels.order=id&vessels.crew.order=rank&id=eq.1",
    answer: [{ name: "Oslo", ship: ["Ariel", "Fram"], rank: [["captain", "mate"], ["captain"]] }],
  },
  {
    title: "R-SPR-4 a to-one embed in a to-many spread gives an array of objects",
    request: "GET /ports?select=name,...vessels(ship:name,registrations(number))&vessels.order=id&id=eq.1",
    answer: [{ name: "Oslo", ship: ["Ariel", "Fram"], registrations: [{ number: "R-101" }, { number: "R-202" }] }],
  },
  {
    title: "R-SPR-4 a to-many embed in a to-many spread gives an array of arrays",
    request: "GET /ports?select=...vessels(ship:name,crew(rank))&vessels.order=id&vessels.crew.order=rank&id=eq.1",
    answer: [{ ship: ["Ariel", "Fram"], crew: [[{ rank: "captain" }, { rank: "mate" }], [{ rank: "captain" }]] }],
  },
  {
    title: "R-SPR-4 a to-many spread in a to-one spread gives arrays",
    request: "GET /voyages?select=id,...vessels(...crew(ranks:rank))&vessels.crew.order=rank&id=eq.1",
    answer: [{ id: 1, ranks: ["captain", "mate"] }],
  },
  {
    title: "R-SPR-4 an embed may contain a spread",
    request: "GET /ports?select=name,vessels(name,...registrations(number))&vessels.order=id&id=eq.1",
    answer: [
      {
        name: "Oslo",
        vessels: [
          { name: "Ariel", number: "R-101" },
          { name: "Fram", number: "R-202" },
        ],
      },
    ],
  },
  {
    title: "R-SPR-4 JSON and array values keep their shape in a to-many spread",
    request: "GET /ports?select=...vessels(flags,specs->engine)&vessels.order=id&id=eq.1",
    answer: [
      {
        flags: [["PA", "NO"], ["NO"]],
        engine: [
          { maker: "Burmeister", kw: 550 },
          { maker: "Akers", kw: 220 },
        ],
      },
    ],
  },
  {
    title: "R-SPR-5 an empty spread adds no key",
    request: "GET /vessels?select=name,...ports()&id=eq.1",
    answer: [{ name: "Ariel" }],
  },
  {
    title: "R-SPR-5 an empty inner spread removes parents",
    request: "GET /vessels?select=name,...ports!inner()&order=id",
    answer: [{ name: "Ariel" }, { name: "Fram" }],
  },
  {
    title: "R-SPR-6 an order applies to all arrays of a spread",
    request: "GET /ports?select=...vessels(ships:name,tonnage)&vessels.order=tonnage&id=eq.1",
    answer: [{ ships: ["Fram", "Ariel"], tonnage: [402, 853] }],
  },
  {
    title: "R-SPR-6 a spread is ordered by a column that is not selected",
    request: "GET /ports?select=...vessels(ships:name)&vessels.order=tonnage.desc&id=eq.1",
    answer: [{ ships: ["Ariel", "Fram"] }],
  },
  {
    title: "R-SPR-6 a spread is ordered by a JSON path",
    request: "GET /ports?select=...vessels(ships:name)&vessels.order=specs->engine->kw&id=eq.1",
    answer: [{ ships: ["Fram", "Ariel"] }],
  },
  {
    title: "R-SPR-6 a spread is ordered by a related column",
    request:
      "GET /ports?select=...vessels(ships:name,registrations(number))&vessels.order=registrations(number).desc&id=eq.1",
    answer: [{ ships: ["Fram", "Ariel"], registrations: [{ number: "R-202" }, { number: "R-101" }] }],
  },
  {
    title: "R-SPR-1 rows of a function may contain spreads",
    request: "GET /rpc/vessels_of?port=1&select=name,...ports(home:name)",
    answer: [
      { name: "Ariel", home: "Oslo" },
      { name: "Fram", home: "Oslo" },
    ],
  },
  {
    title: "R-SPR-1 a representation may contain spreads",
    request: "PATCH /vessels?id=eq.1&select=name,...ports(home:name),...crew(ranks:rank)&crew.order=rank",
    headers: { prefer: "return=representation, tx=rollback" },
    body: { tonnage: 1 },
    answer: [{ name: "Ariel", home: "Oslo", ranks: ["captain", "mate"] }],
  },
]);

describe("aggregates", () => {
  cases(aggregatesApi, [
    {
      title: "R-SPR-7 an aggregate in a to-many spread is rejected",
      request: "GET /ports?select=name,...vessels(tonnage.sum())",
      status: 400,
      answer: notImplemented,
    },
    {
      title: "R-SPR-7 an aggregate in a many-to-many spread is rejected",
      request: "GET /vessels?select=name,...sailors(count())",
      status: 400,
      answer: notImplemented,
    },
    {
      title: "R-SPR-7 an aggregate of a spread inside a to-many spread is rejected",
      request: "GET /ports?select=name,...vessels(...registrations(number.max()))",
      status: 400,
      answer: notImplemented,
    },
    {
      title: "R-SPR-7 an aggregate in an embed inside a to-many spread is accepted",
      request: "GET /ports?select=...vessels(ship:name,crew(count()))&vessels.order=id&id=eq.1",
      answer: [{ ship: ["Ariel", "Fram"], crew: [[{ count: 2 }], [{ count: 1 }]] }],
    },
  ]);
});

test("R-SPR-1 without the plugin spread-embeds spreads are a syntax error", async () => {
  const reducedApi = await startApi({
    preset: (options) => compose(fullCompat(options), without("spread-embeds")),
  });
  for (const select of ["...ports(name)", "id,...ports(name)", "crew(...sailors(name))"]) {
    const answer = await reducedApi.get(`/vessels?select=${select}`);
    expect(answer.status, select).toBe(400);
    expect(answer.json().code, select).toBe("PGRST100");
  }
});
