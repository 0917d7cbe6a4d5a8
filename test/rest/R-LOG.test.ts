import { expect } from "vitest";
import { startApi } from "../support/api.ts";
import { buildFilterRequest, cases } from "../support/cases.ts";

const api = await startApi();

const ids = (...list: readonly number[]) => list.map((id) => ({ id }));
cases(api, [
  {
    title: "R-LOG-1 or holds if one condition holds",
    request: buildFilterRequest("vessels", "or=(tonnage.lt.100,name.eq.Fram)"),
    answer: ids(2, 3),
  },
  {
    title: "R-LOG-1 and holds if all conditions hold",
    request: buildFilterRequest("vessels", "and=(tonnage.gt.100,name.neq.Fram)"),
    answer: ids(1),
  },
  {
    title: "R-LOG-1 a logic tree may have a single condition",
    request: buildFilterRequest("vessels", "or=(id.eq.1)"),
    answer: ids(1),
  },
  {
    title: "R-LOG-1 logic trees may be nested",
    request: buildFilterRequest("vessels", "or=(tonnage.lt.100,and(tonnage.gt.800,name.not.like.F*))"),
    answer: ids(1, 3),
  },
  {
    title: "R-LOG-1 deeply nested logic trees are accepted",
    request: buildFilterRequest("vessels", `or=(${"and(or(".repeat(40)}id.eq.2${"))".repeat(40)})`),
    answer: ids(2),
  },
  {
    title: "R-LOG-1 R-LIM-1 logic trees that are nested too deeply are rejected",
    request: buildFilterRequest("vessels", `or=(${"and(".repeat(900)}id.eq.2${")".repeat(900)})`),
    status: 400,
    check: (answer) => expect(answer.json().hint).toBe("The limit is the setting maxLogicDepth."),
  },
  {
    title: "R-LOG-2 not.or negates a tree",
    request: buildFilterRequest("vessels", "not.or=(id.eq.1,id.eq.2)"),
    answer: ids(3),
  },
  {
    title: "R-LOG-2 not.and negates a tree",
    request: buildFilterRequest("vessels", "not.and=(id.gt.1,id.lt.3)"),
    answer: ids(1, 3),
  },
  {
    title: "R-LOG-2 not negates a tree inside another",
    request: buildFilterRequest("vessels", "or=(not.and(id.gt.1,id.lt.3),name.eq.Fram)"),
    answer: ids(1, 2, 3),
  },
  {
    title: "R-LOG-2 a not after the path of an embed negates its tree",
    request: "GET /ports?select=id,vessels(id)&vessels.not.and=(id.gt.1,id.lt.3)&order=id",
    answer: [
      { id: 1, vessels: ids(1) },
      { id: 2, vessels: [] },
    ],
  },
  {
    title: "R-LOG-2 a not before the path of an embed negates its tree",
    request: "GET /ports?select=id,vessels(id)&not.vessels.or=(id.eq.2)&order=id",
    answer: [
      { id: 1, vessels: ids(1) },
      { id: 2, vessels: [] },
    ],
  },
  {
    title: "R-LOG-3 a logic tree accepts quoted values",
    request: 'GET /sailors?select=id&or=(name.eq."a,b",name.eq."Jo \\"Red\\" Lee")',
    answer: ids(4),
  },
  {
    title: "R-LOG-3 a logic tree accepts an array without quotes",
    request: buildFilterRequest("vessels", "or=(flags.cs.{PA,NO},id.eq.3)"),
    answer: ids(1, 3),
  },
  {
    title: "R-LOG-3 a logic tree accepts quoted ranges",
    request: buildFilterRequest("charters", 'or=(seats.adj."[9,12)",period.cs."[2024-01-10,2024-01-15)")'),
    answer: ids(1, 2),
  },
  {
    title: "R-LOG-3 lists in a tree keep their parentheses",
    request: buildFilterRequest("vessels", "or=(id.in.(1,2),name.not.in.(Ariel,Fram,Gjoa))"),
    answer: ids(1, 2),
  },
  {
    title: "R-LOG-3 a logic tree accepts the operator is",
    request: buildFilterRequest("vessels", "or=(home_port_id.is.null,id.eq.1)"),
    answer: ids(1, 3),
  },
  {
    title: "R-LOG-3 a logic tree accepts full-text operators",
    request: buildFilterRequest("manifests", "or=(body.fts(english).cats,body.wfts.crates)"),
    answer: ids(1, 3),
  },
  {
    title: "R-LOG-3 a logic tree accepts quantifiers",
    request: buildFilterRequest("vessels", "or=(name.like(any).{A*,F*},id.gt.5)"),
    answer: ids(1, 2),
  },
  {
    title: "R-LOG-3 a logic tree accepts patterns",
    request: buildFilterRequest("vessels", "or=(name.like.*a,name.ilike.ARI*)"),
    answer: ids(1, 3),
  },
  {
    title: "R-LOG-3 a logic tree accepts JSON paths",
    request: buildFilterRequest("vessels", "or=(specs->>crew.eq.24,specs->engine->>kw.eq.220)"),
    answer: ids(1, 2),
  },
  {
    title: "R-LOG-3 a logic tree accepts quoted columns",
    request: 'GET /Deck%20Plans?select=a:"a.b"&or=("a.b".eq.dotted,"(x)".eq.nothing)',
    answer: [{ a: "dotted" }],
  },
  {
    title: "R-LOG-4 a logic tree applies to an embed",
    request: "GET /vessels?select=id,voyages(id)&voyages.or=(fare.gt.100,fare.is.null)&order=id",
    answer: [
      { id: 1, voyages: ids(1) },
      { id: 2, voyages: ids(3) },
      { id: 3, voyages: [] },
    ],
  },
  {
    title: "R-LOG-4 a logic tree applies to a nested embed",
    request:
      "GET /ports?select=id,vessels(id,crew(rank))&id=eq.1&vessels.crew.or=(rank.eq.mate,rank.eq.cook)&vessels.order=id",
    answer: [
      {
        id: 1,
        vessels: [
          { id: 1, crew: [{ rank: "mate" }] },
          { id: 2, crew: [] },
        ],
      },
    ],
  },
  {
    title: "R-LOG-4 a tree cannot name columns of another level",
    request: buildFilterRequest("vessels", "or=(ports.name.eq.Oslo)"),
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST100"),
  },
  {
    title: "R-LOG-5 trees and filters are ANDed",
    request: buildFilterRequest("vessels", "or=(id.eq.1,id.eq.2)&and=(tonnage.gt.1,tonnage.lt.500)&name=like.F*"),
    answer: ids(2),
  },
  {
    title: "R-LOG-5 trees select the rows of a write",
    request: "DELETE /logbook?select=entry&or=(entry.eq.calm,entry.eq.storm)",
    headers: { prefer: "return=representation, tx=rollback" },
    answer: [{ entry: "calm" }],
  },
  {
    title: "R-LOG-5 PUT rejects a tree",
    request: "PUT /ports?id=eq.1&or=(id.eq.1)",
    headers: { prefer: "tx=rollback" },
    body: { id: 1, name: "Oslo" },
    status: 405,
    check: (answer) => expect(answer.json().code).toBe("PGRST105"),
  },
  {
    title: "R-LOG-6 columns may begin with an operator word",
    request: buildFilterRequest("tallies", "or=(or_else.eq.2,not_now.eq.9)"),
    answer: ids(2),
  },
  {
    title: "R-LOG-6 a column name that continues after a blank is named completely in the error",
    request: buildFilterRequest("tallies", "or=(or else.eq.1)"),
    status: 400,
    check: (answer) => expect(answer.json().message).toContain("or else"),
  },
]);

await api.sql(`
  create table sea.words (id int primary key, port_id int references sea.ports (id), "and" int, "or" int, "not" int, "and x" int, note jsonb);
  insert into sea.words values (1, 1, 1, 2, 3, 4, '{"or": 1}'), (2, 1, 10, 20, 30, 40, null), (3, 2, null, null, null, null, '{"or": 5}');
  grant select on sea.words to sea_anon;
`);
await api.reload();

/** Columns named like the keywords of logic trees. */
cases(api, [
  {
    title: "R-LOG-6 columns named and or not can be filtered in a tree",
    request: buildFilterRequest("words", "or=(and.eq.1,not.is.null)"),
    answer: ids(1, 3),
  },
  {
    title: "R-LOG-6 a column named or can be filtered in a tree",
    request: buildFilterRequest("words", "and=(or.gt.2,or.lt.30)"),
    answer: ids(2),
  },
  {
    title: "R-LOG-6 filters on columns named like operators can be negated",
    request: buildFilterRequest("words", "and=(not.not.eq.3,or.not.in.(2))"),
    answer: ids(2),
  },
  {
    title: "R-LOG-6 filters on columns named like operators accept quantifiers and lists",
    request: buildFilterRequest("words", "or=(not.eq(any).{3,5},and.in.(10,11))"),
    answer: ids(1, 2),
  },
  {
    title: "R-LOG-6 a JSON path may have a key named or",
    request: buildFilterRequest("words", "or=(note->or.eq.5,note->>or.eq.1)"),
    answer: ids(1, 3),
  },
  {
    title: "R-LOG-6 columns named and or not may be quoted",
    request: buildFilterRequest("words", 'or=("and".eq.1,"not".is.null)'),
    answer: ids(1, 3),
  },
  {
    title: "R-LOG-6 columns named and or or may be beside nested trees",
    request: buildFilterRequest("words", "or=(and(and.eq.10,or.eq.20),not.or(not.is.null,or.gt.2),and x.eq.4)"),
    answer: ids(1, 2),
  },
  {
    title: "R-LOG-6 groups may be nested in groups",
    request: buildFilterRequest("words", "not.and=(or(or(or.eq.2,not.eq.30)))"),
    answer: [],
  },
  {
    title: "R-LOG-6 columns named or or not can be filtered in trees of embeds",
    request:
      "GET /ports?select=id,words!inner(id)&words.or=(or.eq.2,not.is.null)&words.not.and=(not.not.is.null)&order=id",
    answer: [{ id: 2, words: [{ id: 3 }] }],
  },
  {
    title: "R-LOG-6 a column named and may be beside a null filter of an embed",
    request: "GET /words?select=id,ports()&ports.name=eq.Oslo&or=(ports.is.null,and.eq.1)&order=id",
    answer: ids(1, 3),
  },
  {
    title: "R-LOG-6 as parameters, columns named and or or need quotes, and not needs none",
    request: buildFilterRequest("words", '"and"=gt.0&"or"=eq.2&not=eq.3'),
    answer: ids(1),
  },
  {
    title: "R-LOG-6 the parameters and and or without quotes are logic trees",
    request: buildFilterRequest("words", "and=eq.1"),
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST100"),
  },
  {
    title: "R-LOG-6 columns named and or not can be filtered in a tree of a write",
    request: "DELETE /words?or=(and.eq.77,not.eq.77)",
    headers: { prefer: "tx=rollback" },
    status: 401,
  },
]);
