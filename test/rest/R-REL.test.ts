import { describe, expect } from "vitest";
import { capabilities, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const failure = (code: string) => ({
  check: (answer: { json(): { readonly code: string } }) => expect(answer.json().code).toBe(code),
});

cases(api, [
  {
    title: "R-REL-1 relationships do not depend on privileges",
    request: "GET /sailors?select=name,payroll(amount)&id=eq.1",
    status: 401,
    ...failure("42501"),
  },
  {
    title: "R-REL-2 many-to-one",
    request: "GET /vessels?select=name,ports(name)&id=eq.1",
    answer: [{ name: "Ariel", ports: { name: "Oslo" } }],
  },
  {
    title: "R-REL-2 one-to-many",
    request: "GET /ports?select=name,vessels(name)&id=eq.1&vessels.order=id",
    answer: [{ name: "Oslo", vessels: [{ name: "Ariel" }, { name: "Fram" }] }],
  },
  {
    title: "R-REL-2 one-to-one by a primary key",
    request: "GET /registrations?select=number,vessels(name)&vessel_id=eq.1",
    answer: [{ number: "R-101", vessels: { name: "Ariel" } }],
  },
  {
    title: "R-REL-2 one-to-one back",
    request: "GET /vessels?select=name,registrations(number)&order=id",
    answer: [
      { name: "Ariel", registrations: { number: "R-101" } },
      { name: "Fram", registrations: { number: "R-202" } },
      { name: "Gjoa", registrations: null },
    ],
  },
  {
    title: "R-REL-2 keys of several columns",
    request: "GET /moorings?select=id,berths(label)&order=id",
    answer: [
      { id: 1, berths: { label: "north" } },
      { id: 2, berths: { label: "south" } },
      { id: 3, berths: null },
    ],
  },
  {
    title: "R-REL-2 and back",
    request: "GET /berths?select=label,moorings(id)&order=label",
    answer: [
      { label: "north", moorings: [{ id: 1 }] },
      { label: "quay", moorings: [] },
      { label: "south", moorings: [{ id: 2 }] },
    ],
  },
  {
    title: "R-REL-2 partitioned tables once",
    request: "GET /ports?select=name,soundings(id)&id=eq.1&soundings.order=id",
    answer: [{ name: "Oslo", soundings: [{ id: 1 }, { id: 2 }] }],
  },
  {
    title: "R-REL-3 through a junction",
    request: "GET /vessels?select=name,sailors(name)&id=eq.1&sailors.order=id",
    answer: [{ name: "Ariel", sailors: [{ name: "Ada" }, { name: "Bo" }] }],
  },
  {
    title: "R-REL-3 and back",
    request: "GET /sailors?select=name,vessels(name)&id=eq.3",
    answer: [{ name: "Cy", vessels: [{ name: "Fram" }] }],
  },
  {
    title: "R-REL-3 keys that are not in the primary key make no junction",
    request: "GET /cranes?select=name,docks!crane_notes(name)",
    status: 400,
    ...failure("PGRST200"),
  },
  {
    title: "R-REL-3 a view serves for a hidden junction",
    request: "GET /sailors?select=name,watches(name)&id=eq.2&watches.order=id",
    answer: [{ name: "Bo", watches: [{ name: "dog" }, { name: "morning" }] }],
  },
  {
    title: "R-REL-4 a view in place of the table",
    request: "GET /fleet?select=name,ports(name)&id=eq.1",
    answer: [{ name: "Ariel", ports: { name: "Oslo" } }],
  },
  {
    title: "R-REL-4 a view of a view",
    request: "GET /fleet_names?select=name,voyages(id)&id=eq.2",
    answer: [{ name: "Fram", voyages: [{ id: 3 }] }],
  },
  {
    title: "R-REL-4 expressions do not trace",
    request: "GET /voyage_fares?select=double_fare,vessels(name)&id=eq.1",
    answer: [{ double_fare: 241, vessels: { name: "Ariel" } }],
  },
  {
    title: "R-REL-4 unions do not trace",
    request: "GET /all_names?select=name,vessels(name)",
    status: 400,
    ...failure("PGRST200"),
  },
  {
    title: "R-REL-4 aggregates do not trace",
    request: "GET /port_tonnage?select=tonnage,vessels(name)",
    status: 400,
    ...failure("PGRST200"),
  },
  {
    title: "R-REL-4 a chain through a hidden view is cut",
    request: "GET /port_mirror?select=name,vessels(name)",
    status: 400,
    ...failure("PGRST200"),
  },
  {
    title: "R-REL-4 a view over a hidden table",
    request: "GET /vessels?select=name,cargo_list(goods)&id=eq.1&cargo_list.order=id",
    answer: [{ name: "Ariel", cargo_list: [{ goods: "salt" }, { goods: "rope" }] }],
  },
  {
    title: "R-REL-5 from a table to a view",
    request: "GET /voyages?select=id,fleet(name)&id=eq.1",
    answer: [{ id: 1, fleet: { name: "Ariel" } }],
  },
  {
    title: "R-REL-5 from a view to a view",
    request: "GET /voyage_sheet?select=voyage_id,crew(rank)&voyage_id=eq.3",
    status: 200,
    answer: [{ voyage_id: 3, crew: [{ rank: "captain" }] }],
  },
  {
    title: "R-REL-6 a key column shown twice is ambiguous",
    request: "GET /fleet_twice?select=id,ports(name)",
    status: 300,
    ...failure("PGRST201"),
  },
  {
    title: "R-REL-6 and told apart by the column",
    request: "GET /fleet_twice?select=id,ports!port_again(name)&id=eq.1",
    answer: [{ id: 1, ports: { name: "Oslo" } }],
  },
  {
    title: "R-REL-7 a view's derived key makes PUT possible",
    request: "PUT /fleet?id=eq.1",
    headers: { prefer: "return=representation, tx=rollback" },
    body: { id: 1, name: "Ariel II" },
    status: 200,
    check: (answer) => expect(answer.json()).toEqual([{ id: 1, name: "Ariel II", home_port_id: 1 }]),
  },
  {
    title: "R-REL-8 relations of another schema are out of reach",
    request: "GET /ports?select=name,depots(name)",
    status: 400,
    ...failure("PGRST200"),
  },
  {
    title: "R-REL-8 a computed one may lead there",
    request: "GET /ports?select=name,land_depots(name)&id=eq.1",
    answer: [{ name: "Oslo", land_depots: [{ name: "Sinsen" }] }],
  },
  {
    title: "R-REL-9 computed, one row declared",
    request: "GET /vessels?select=name,home_harbour(name)&order=id",
    answer: [
      { name: "Ariel", home_harbour: { name: "Oslo" } },
      { name: "Fram", home_harbour: { name: "Oslo" } },
      { name: "Gjoa", home_harbour: null },
    ],
  },
  {
    title: "R-REL-9 computed, not a set: there is always a row",
    request: "GET /ports?select=name,flagship(name)&order=id",
    answer: [
      { name: "Oslo", flagship: { name: "Ariel" } },
      { name: "Leith", flagship: { name: null } },
    ],
  },
  {
    title: "R-REL-9 computed, a set",
    request: "GET /ports?select=name,heavy_vessels(name)&order=id",
    answer: [
      { name: "Oslo", heavy_vessels: [{ name: "Ariel" }, { name: "Fram" }] },
      { name: "Leith", heavy_vessels: [] },
    ],
  },
  {
    title: "R-REL-9 it replaces the detected one",
    request: "GET /docks?select=name,crane_notes(note)&id=eq.1",
    answer: [{ name: "east", crane_notes: [{ note: "greased" }] }],
  },
  {
    title: "R-REL-9 overloads by argument type",
    request: "GET /vessels?select=name,peers(name)&id=eq.1",
    answer: [{ name: "Ariel", peers: [{ name: "Fram" }, { name: "Gjoa" }] }],
  },
  {
    title: "R-REL-9 the other overload",
    request: "GET /sailors?select=name,peers(name)&id=eq.4",
    answer: [{ name: 'Jo "Red" Lee', peers: [{ name: "Ada" }, { name: "Bo" }, { name: "Cy" }] }],
  },
  {
    title: "R-REL-9 filters and orders on computed ones",
    request: "GET /ports?select=name,heavy_vessels(name)&heavy_vessels.tonnage=lt.800&heavy_vessels.order=name&id=eq.1",
    answer: [{ name: "Oslo", heavy_vessels: [{ name: "Fram" }] }],
  },
  {
    title: "R-REL-9 nested in computed ones",
    request: "GET /ports?select=name,flagship(name,crew(rank))&id=eq.1&flagship.crew.order=rank",
    answer: [{ name: "Oslo", flagship: { name: "Ariel", crew: [{ rank: "captain" }, { rank: "mate" }] } }],
  },
  {
    title: "R-REL-10 a key to itself: the parent by its column",
    request: "GET /sailors?select=name,mentor_id(name)&id=eq.2",
    answer: [{ name: "Bo", mentor_id: { name: "Ada" } }],
  },
  {
    title: "R-REL-10 a key to itself: the children by the relation's name",
    request: "GET /sailors?select=name,sailors(name)&id=eq.1",
    answer: [{ name: "Ada", sailors: [{ name: "Bo" }] }],
  },
]);

describe("other kinds of relations", () => {
  cases(api, [
    {
      title: "R-REL-4 materialized views that show a key",
      request: "GET /port_tonnage?select=port_id,ports(name)",
      answer: [{ port_id: 1, ports: { name: "Oslo" } }],
    },
    {
      title: "R-REL-1 foreign tables are relations without keys",
      when: capabilities.foreignTables,
      request: "GET /engine_plates?select=plate,vessels(name)",
      status: 400,
      ...failure("PGRST200"),
    },
  ]);
});
