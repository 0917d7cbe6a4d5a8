import { expect } from "vitest";
import { startApi, type Answer } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const disabledApi = await startApi();
const api = await startApi({ dbAggregatesEnabled: true });

const disabledError = {
  code: "PGRST123",
  details: null,
  hint: null,
  message: "Use of aggregate functions is not allowed",
};

cases(disabledApi, [
  {
    title: "R-AGG-1 aggregates are off by default",
    request: "GET /vessels?select=tonnage.sum()",
    status: 400,
    answer: disabledError,
  },
  {
    title: "R-AGG-1 by default the row count is off too",
    request: "GET /vessels?select=count()",
    status: 400,
    answer: disabledError,
  },
  {
    title: "R-AGG-1 by default aggregates are off at any depth",
    request: "GET /ports?select=name,vessels(crew(count()))",
    status: 400,
    answer: disabledError,
  },
  {
    title: "R-AGG-1 by default aggregates are off in spreads",
    request: "GET /voyages?select=id,...vessels(tonnage.sum())",
    status: 400,
    answer: disabledError,
  },
  {
    title: "R-AGG-7 count without parentheses is a column",
    request: "GET /tallies?select=count&order=id",
    answer: [{ count: 5 }, { count: 9 }],
  },
  {
    title: "R-AGG-7 R-AGG-7a select=count counts the rows if no column has that name",
    request: "GET /vessels?select=count",
    answer: [{ count: 3 }],
  },
  {
    title: "R-AGG-7 R-AGG-7a select=count in an embed counts the related rows",
    request: "GET /ports?select=name,vessels(count)&order=id",
    answer: [
      { name: "Oslo", vessels: [{ count: 2 }] },
      { name: "Leith", vessels: [{ count: 0 }] },
    ],
  },
]);

cases(api, [
  {
    title: "R-AGG-1 sum, avg, min, max and count aggregate a column",
    request: "GET /vessels?select=tonnage.sum(),tonnage.avg(),tonnage.min(),tonnage.max(),tonnage.count()",
    check: (answer) => expect(answer.json()).toEqual([{ sum: 1302, avg: 434, min: 47, max: 853, count: 3 }]),
  },
  { title: "R-AGG-1 count() counts the rows", request: "GET /vessels?select=count()", answer: [{ count: 3 }] },
  {
    title: "R-AGG-1 a column's count leaves out nulls",
    request: "GET /vessels?select=home_port_id.count()",
    answer: [{ count: 2 }],
  },
  {
    title: "R-AGG-2 other fields are group terms",
    request: "GET /vessels?select=home_port_id,tonnage.sum(),n:count()&order=home_port_id",
    answer: [
      { home_port_id: 1, sum: 1255, n: 2 },
      { home_port_id: null, sum: 47, n: 1 },
    ],
  },
  {
    title: "R-AGG-2 aliased fields are group terms",
    request: "GET /vessels?select=port:home_port_id,tonnage.sum()&order=home_port_id",
    answer: [
      { port: 1, sum: 1255 },
      { port: null, sum: 47 },
    ],
  },
  {
    title: "R-AGG-2 casts and JSON paths are group terms",
    request:
      "GET /vessels?select=maker:specs->engine->>maker,home_port_id::text,count()&order=home_port_id,specs->engine->>maker&id=lt.3",
    answer: [
      { maker: "Akers", home_port_id: "1", count: 1 },
      { maker: "Burmeister", home_port_id: "1", count: 1 },
    ],
  },
  {
    title: "R-AGG-2 JSON paths without an alias are group terms",
    request: "GET /vessels?select=tag:specs->tags->>0,count()",
    check: (answer) => expect(answer.json()).toHaveLength(2),
  },
  {
    title: "R-AGG-2 an embed groups by its value",
    request: "GET /vessels?select=tonnage.sum(),ports(name)",
    check: (answer) =>
      expect(answer.json()).toEqual(
        expect.arrayContaining([
          { sum: 1255, ports: { name: "Oslo" } },
          { sum: 47, ports: null },
        ]),
      ),
  },
  {
    title: "R-AGG-2 a to-many embed is a group term",
    request: "GET /vessels?select=count(),crew(rank)",
    check: (answer) => expect(answer.json()).toHaveLength(3),
  },
  {
    title: "R-AGG-2 a select of only aggregates returns one row, even without rows",
    request: "GET /vessels?select=tonnage.sum(),count()&id=eq.0",
    answer: [{ sum: null, count: 0 }],
  },
  {
    title: "R-AGG-3 the alias is the key",
    request: "GET /vessels?select=total:tonnage.sum(),heads:count()",
    answer: [{ total: 1302, heads: 3 }],
  },
  {
    title: "R-AGG-3 two aggregates of the same name return two equal keys",
    request: "GET /vessels?select=tonnage.sum(),id.sum()",
    bytes: '[{"sum":1302,"sum":6}]',
  },
  {
    title: "R-AGG-3 the result of an aggregate can have a cast",
    request: "GET /vessels?select=tonnage.avg()::int,tonnage.sum()::text",
    answer: [{ avg: 434, sum: "1302" }],
  },
  {
    title: "R-AGG-3 the argument of an aggregate can have a cast",
    request: "GET /vessels?select=specs->>crew::int.sum()",
    answer: [{ sum: 36 }],
  },
  {
    title: "R-AGG-3 an aggregate can have a cast before and after it",
    request: "GET /vessels?select=most:specs->>crew::int.max()::text",
    answer: [{ most: "24" }],
  },
  {
    title: "R-AGG-3 the row count can have a cast",
    request: "GET /vessels?select=count()::text",
    answer: [{ count: "3" }],
  },
  {
    title: "R-AGG-4 an aggregate in an embed is computed per parent",
    request: "GET /ports?select=name,vessels(tonnage.sum())&order=id",
    answer: [
      { name: "Oslo", vessels: [{ sum: 1255 }] },
      { name: "Leith", vessels: [{ sum: null }] },
    ],
  },
  {
    title: "R-AGG-4 a count in an embed is computed per parent",
    request: "GET /ports?select=name,vessels(count())&order=id",
    answer: [
      { name: "Oslo", vessels: [{ count: 2 }] },
      { name: "Leith", vessels: [{ count: 0 }] },
    ],
  },
  {
    title: "R-AGG-4 an aggregate beside a column in an embed is grouped per parent",
    request: "GET /vessels?select=name,crew(rank,count())&id=eq.1&crew.order=rank",
    answer: [
      {
        name: "Ariel",
        crew: [
          { rank: "captain", count: 1 },
          { rank: "mate", count: 1 },
        ],
      },
    ],
  },
  {
    title: "R-AGG-5 a star beside an aggregate expands to group terms",
    request: "GET /ports?select=*,count()&order=id",
    answer: [
      { id: 1, name: "Oslo", country: "NO", count: 1 },
      { id: 2, name: "Leith", country: "GB", count: 1 },
    ],
  },
  {
    title: "R-AGG-5 a star inside an embed of a group returns every column",
    request: "GET /vessels?select=count(),ports(*)&home_port_id=not.is.null",
    answer: [{ count: 2, ports: { id: 1, name: "Oslo", country: "NO" } }],
  },
  {
    title: "R-AGG-5 filters apply before rows are grouped",
    request: "GET /vessels?select=tonnage.sum()&tonnage=gt.100",
    answer: [{ sum: 1255 }],
  },
  {
    title: "R-AGG-5 groups may be ordered by a grouped column",
    request: "GET /crew?select=rank,count()&order=rank.desc",
    answer: [
      { rank: "mate", count: 1 },
      { rank: "captain", count: 2 },
    ],
  },
  {
    title: "R-AGG-5 an order by a column that is not grouped is the database's error",
    request: "GET /crew?select=rank,count()&order=vessel_id",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("42803"),
  },
  {
    title: "R-AGG-5b groups may be ordered by a column of an embed",
    request: "GET /voyages?select=n:count(),vessels(name)&order=vessels(name).desc",
    answer: [
      { n: 1, vessels: { name: "Fram" } },
      { n: 2, vessels: { name: "Ariel" } },
    ],
  },
  {
    title: "R-AGG-5b an order of groups may be limited",
    request: "GET /voyages?select=n:count(),vessels(ship:name)&order=vessels(ship).desc&limit=1",
    answer: [{ n: 1, vessels: { ship: "Fram" } }],
  },
  {
    title: "R-AGG-5b groups may be ordered by a JSON path of an embed",
    request:
      "GET /voyages?select=n:count(),vessels(name,specs)&order=vessels(specs->>crew).desc.nullslast,vessels(name)",
    check: (answer) => expect(answer.json().map(({ n }: { n: number }) => n)).toEqual([2, 1]),
  },
  {
    title: "R-AGG-5b groups cannot be ordered by a column of an empty embed",
    request: "GET /voyages?select=n:count(),vessels()&order=vessels(name)",
    status: 400,
    answer: {
      code: "42803",
      details: null,
      hint: null,
      message: 'column "voyages_vessels_1.name" must appear in the GROUP BY clause or be used in an aggregate function',
    },
  },
  {
    title: "R-AGG-5c groups may be ordered by a key of a spread",
    request: "GET /voyages?select=...vessels(ship:name,n:count())&order=ship.desc",
    answer: [
      { ship: "Fram", n: 1 },
      { ship: "Ariel", n: 2 },
    ],
  },
  {
    title: "R-AGG-5c groups may be ordered by an aggregate in a spread",
    request: "GET /voyages?select=...vessels(name,n:count())&order=n",
    answer: [
      { name: "Fram", n: 1 },
      { name: "Ariel", n: 2 },
    ],
  },
  {
    title: "R-AGG-5c groups may be ordered by a key of a star in a nested spread",
    request: "GET /voyages?select=n:count(),...vessels(ship:name,...ports(*))&order=country,ship.desc",
    answer: [
      { n: 1, ship: "Fram", id: 1, name: "Oslo", country: "NO" },
      { n: 2, ship: "Ariel", id: 1, name: "Oslo", country: "NO" },
    ],
  },
  {
    title: "R-AGG-5c a column that is a group term takes precedence over a key of a spread",
    request: "GET /vessels?select=name,...ports(name:country,n:count())&order=name.desc&home_port_id=not.is.null",
    bytes: '[{"name":"Fram","name":"NO","n":1}, \n {"name":"Ariel","name":"NO","n":1}]',
  },
  {
    title: "R-AGG-6 a star in a nested spread expands to group terms",
    request: "GET /voyages?select=n:count(),...vessels(ship:name,...ports(*))&order=vessels(ship)",
    answer: [
      { n: 2, ship: "Ariel", id: 1, name: "Oslo", country: "NO" },
      { n: 1, ship: "Fram", id: 1, name: "Oslo", country: "NO" },
    ],
  },
  {
    title: "R-AGG-6 an aggregate may be beside a star in the same spread",
    request: "GET /voyages?select=...vessels(tonnage.sum(),...ports(*,sum:id.sum()))",
    bytes: '[{"sum":2108,"id":1,"name":"Oslo","country":"NO","sum":3}]',
  },
  {
    title: "R-AGG-6 aggregates in a to-one spread aggregate the parents",
    request: "GET /voyages?select=...vessels(tonnage.sum())",
    answer: [{ sum: 2108 }],
  },
  {
    title: "R-AGG-6 an aggregate in a spread may have group terms of the parent",
    request: "GET /voyages?select=origin_id,...vessels(tonnage.max())&order=origin_id",
    answer: [
      { origin_id: 1, max: 853 },
      { origin_id: 2, max: 853 },
    ],
  },
  {
    title: "R-AGG-6 spread fields are group terms",
    request: "GET /voyages?select=fare.sum(),...vessels(name)&order=vessels(name)",
    status: 200,
    answer: [
      { sum: 200.5, name: "Ariel" },
      { sum: null, name: "Fram" },
    ],
  },
  {
    title: "R-AGG-6 the example of the reference returns its groups",
    request: "GET /vessels?select=tonnage.sum(),...ports(port:name)",
    check: (answer) =>
      expect(answer.json()).toEqual(
        expect.arrayContaining([
          { sum: 47, port: null },
          { sum: 1255, port: "Oslo" },
        ]),
      ),
  },
  {
    title: "R-AGG-6 count() inside counts present rows",
    request: "GET /vessels?select=all:count(),...ports(ported:count())",
    answer: [{ all: 3, ported: 2 }],
  },
  {
    title: "R-AGG-6 an embed in a spread is a group term",
    request: "GET /voyages?select=id.max(),...vessels(name,crew(rank),...ports(country))&order=vessels(name)",
    status: 200,
    answer: [
      { max: 2, name: "Ariel", crew: [{ rank: "captain" }, { rank: "mate" }], country: "NO" },
      { max: 3, name: "Fram", crew: [{ rank: "captain" }], country: "NO" },
    ],
  },
  {
    title: "R-AGG-6 the arrays of a to-many spread in a spread are group terms",
    request: "GET /voyages?select=id.max(),...vessels(name,...crew(rank))&order=vessels(name)&vessels.crew.order=rank",
    answer: [
      { max: 2, name: "Ariel", rank: ["captain", "mate"] },
      { max: 3, name: "Fram", rank: ["captain"] },
    ],
  },
  {
    title: "R-AGG-6 aggregates of nested spreads group the outer rows",
    request: "GET /voyages?select=...vessels(...ports(country,count()))",
    answer: [{ country: "NO", count: 3 }],
  },
  {
    title: "R-AGG-6 an aggregate in a spread can have a cast",
    request: "GET /voyages?select=...vessels(total:tonnage.sum()::text)",
    answer: [{ total: "2108" }],
  },
  {
    title: "R-AGG-6 an aggregate in a spread groups the rows of the nearest embed",
    request: "GET /ports?select=name,voyages!origin_id(...vessels(tonnage.max()))&order=id",
    answer: [
      { name: "Oslo", voyages: [{ max: 853 }] },
      { name: "Leith", voyages: [{ max: 853 }] },
    ],
  },
  // Orders of groups.
  ...(
    [
      [
        "a JSON path",
        "/vessels?select=specs->engine->>maker,count()&order=specs->engine->>maker.desc.nullslast",
        "maker",
      ],
      [
        "a path as JSON",
        "/vessels?select=maker:specs->engine->maker,count()&order=specs->engine->maker.desc.nullslast",
        "maker",
      ],
      ["an item of a list", "/vessels?select=maker:flags->0,count()&order=flags->0.desc.nullslast", "maker"],
      ["its name", "/vessels?select=maker:specs->engine->>maker,count()&order=maker.desc.nullslast", "maker"],
      [
        "a function's rows",
        "/rpc/all_vessels?select=specs->engine->>maker,n:count()&order=specs->engine->>maker.desc.nullslast",
        "maker",
      ],
    ] as const
  ).map(([what, path, key]) => ({
    title: `R-AGG-5 R-AGG-5a groups are ordered by ${what}`,
    request: `GET ${path}`,
    check: (answer: Answer) => {
      const values = answer.json().map((row: Readonly<Record<string, unknown>>) => row[key]);
      expect(values).toEqual([...values].sort((a, b) => (a === null ? 1 : b === null ? -1 : a < b ? 1 : -1)));
      expect(values.length).toBeGreaterThan(1);
    },
  })),
  {
    title: "R-AGG-5 two JSON paths with the same key can order groups",
    request:
      "GET /vessels?select=specs->engine->>kw,specs->other->>kw,n:count()&order=specs->other->>kw,specs->engine->>kw.desc.nullslast",
    bytes: '[{"kw":"550","kw":null,"n":1}, \n {"kw":"220","kw":null,"n":1}, \n {"kw":null,"kw":null,"n":1}]',
  },
  {
    title: "R-AGG-5 R-AGG-5a groups of a cast column are ordered as selected",
    request: "GET /vessels?select=big:tonnage::text,n:count()&order=tonnage.desc",
    answer: [
      { big: "853", n: 1 },
      { big: "47", n: 1 },
      { big: "402", n: 1 },
    ],
  },
  {
    title: "R-AGG-5 groups in an embed can be ordered",
    request:
      "GET /ports?select=id,vessels(specs->engine->>maker,n:count())&vessels.order=specs->engine->>maker.desc&id=eq.1",
    answer: [
      {
        id: 1,
        vessels: [
          { maker: "Burmeister", n: 1 },
          { maker: "Akers", n: 1 },
        ],
      },
    ],
  },
  {
    title: "R-AGG-5 R-AGG-5a groups are ordered by the alias of an aggregate",
    request: "GET /vessels?select=home_port_id,c:count()&order=c.desc",
    answer: [
      { home_port_id: 1, c: 2 },
      { home_port_id: null, c: 1 },
    ],
  },
  {
    title: "R-AGG-5 R-AGG-5a groups are ordered by aggregates without an alias",
    request: "GET /vessels?select=home_port_id,count(),tonnage.sum()&order=count,sum.desc",
    answer: [
      { home_port_id: null, count: 1, sum: 47 },
      { home_port_id: 1, count: 2, sum: 1255 },
    ],
  },
  {
    title: "R-AGG-5 an alias may be the name of a column that is not grouped",
    request: "GET /vessels?select=home_port_id,name:tonnage.max()&order=name",
    answer: [
      { home_port_id: null, name: 47 },
      { home_port_id: 1, name: 853 },
    ],
  },
  {
    title: "R-AGG-5 groups in an embed are ordered by an aggregate",
    request: "GET /ports?select=id,voyages!origin_id(vessel_id,n:count())&voyages.order=n.desc,vessel_id&order=id",
    status: 200,
  },
  {
    title: "R-AGG-5 groups of a function's rows are ordered by an aggregate",
    request: "GET /rpc/all_vessels?select=home_port_id,n:count()&order=n.desc",
    answer: [
      { home_port_id: 1, n: 2 },
      { home_port_id: null, n: 1 },
    ],
  },
  {
    title: "R-AGG-5 without groups an order by an alias is rejected",
    request: "GET /vessels?select=called:name&order=called",
    status: 400,
    check: (answer: Answer) => expect(answer.json().code).toBe("42703"),
  },
  {
    title: "R-AGG-5 an order by count() needs the plugin for groups",
    request: "GET /vessels?select=home_port_id,count()&order=count().desc",
    status: 400,
    check: (answer: Answer) => expect(answer.json().code).toBe("PGRST100"),
  },
  {
    title: "R-AGG-7 aggregates apply to the rows of a function",
    request: "GET /rpc/all_vessels?select=home_port_id,tonnage.sum()&order=home_port_id",
    answer: [
      { home_port_id: 1, sum: 1255 },
      { home_port_id: null, sum: 47 },
    ],
  },
  {
    title: "R-AGG-7 count is a column if the relation has one of that name",
    request: "GET /tallies?select=count.sum()",
    answer: [{ sum: 14 }],
  },
]);
