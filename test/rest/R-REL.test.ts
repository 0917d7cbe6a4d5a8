import { describe, expect } from "vitest";
import { capabilities, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const failure = (code: string) => ({
  check: (answer: { json(): { readonly code: string } }) => expect(answer.json().code).toBe(code),
});

cases(api, [
  {
    title: "R-REL-1 a relationship to a table without grants exists, and its use is rejected by the database",
    request: "GET /sailors?select=name,payroll(amount)&id=eq.1",
    status: 401,
    ...failure("42501"),
  },
  {
    title: "R-REL-2 a foreign key gives a many-to-one relationship",
    request: "GET /vessels?select=name,ports(name)&id=eq.1",
    answer: [{ name: "Ariel", ports: { name: "Oslo" } }],
  },
  {
    title: "R-REL-2 a foreign key gives a one-to-many relationship in the other direction",
    request: "GET /ports?select=name,vessels(name)&id=eq.1&vessels.order=id",
    answer: [{ name: "Oslo", vessels: [{ name: "Ariel" }, { name: "Fram" }] }],
  },
  {
    title: "R-REL-2 a foreign key on a primary key gives a one-to-one relationship",
    request: "GET /registrations?select=number,vessels(name)&vessel_id=eq.1",
    answer: [{ number: "R-101", vessels: { name: "Ariel" } }],
  },
  {
    title: "R-REL-2 a one-to-one relationship works from the referenced table too",
    request: "GET /vessels?select=name,registrations(number)&order=id",
    answer: [
      { name: "Ariel", registrations: { number: "R-101" } },
      { name: "Fram", registrations: { number: "R-202" } },
      { name: "Gjoa", registrations: null },
    ],
  },
  {
    title: "R-REL-2 a foreign key of several columns gives a many-to-one relationship",
    request: "GET /moorings?select=id,berths(label)&order=id",
    answer: [
      { id: 1, berths: { label: "north" } },
      { id: 2, berths: { label: "south" } },
      { id: 3, berths: null },
    ],
  },
  {
    title: "R-REL-2 a foreign key of several columns gives a one-to-many relationship in the other direction",
    request: "GET /berths?select=label,moorings(id)&order=label",
    answer: [
      { label: "north", moorings: [{ id: 1 }] },
      { label: "quay", moorings: [] },
      { label: "south", moorings: [{ id: 2 }] },
    ],
  },
  {
    title: "R-REL-2 a partitioned table gives one relationship, without those of its partitions",
    request: "GET /ports?select=name,soundings(id)&id=eq.1&soundings.order=id",
    answer: [{ name: "Oslo", soundings: [{ id: 1 }, { id: 2 }] }],
  },
  {
    title: "R-REL-3 a junction gives a many-to-many relationship",
    request: "GET /vessels?select=name,sailors(name)&id=eq.1&sailors.order=id",
    answer: [{ name: "Ariel", sailors: [{ name: "Ada" }, { name: "Bo" }] }],
  },
  {
    title: "R-REL-3 a many-to-many relationship works from the other table too",
    request: "GET /sailors?select=name,vessels(name)&id=eq.3",
    answer: [{ name: "Cy", vessels: [{ name: "Fram" }] }],
  },
  {
    title: "R-REL-3 a table whose foreign keys are not in its primary key is not a junction",
    request: "GET /cranes?select=name,docks!crane_notes(name)",
    status: 400,
    ...failure("PGRST200"),
  },
  {
    title: "R-REL-3 R-REL-3a a view over a hidden junction serves as the junction",
    request: "GET /sailors?select=name,watches(name)&id=eq.2&watches.order=id",
    answer: [{ name: "Bo", watches: [{ name: "dog" }, { name: "morning" }] }],
  },
  {
    title: "R-REL-4 a view has the relationships of its table",
    request: "GET /fleet?select=name,ports(name)&id=eq.1",
    answer: [{ name: "Ariel", ports: { name: "Oslo" } }],
  },
  {
    title: "R-REL-4 a view of a view has the relationships of the table",
    request: "GET /fleet_names?select=name,voyages(id)&id=eq.2",
    answer: [{ name: "Fram", voyages: [{ id: 3 }] }],
  },
  {
    title: "R-REL-4 a view with computed columns keeps the relationships of its plain columns",
    request: "GET /voyage_fares?select=double_fare,vessels(name)&id=eq.1",
    answer: [{ double_fare: 241, vessels: { name: "Ariel" } }],
  },
  {
    title: "R-REL-4 a union view has no relationships of its tables",
    request: "GET /all_names?select=name,vessels(name)",
    status: 400,
    ...failure("PGRST200"),
  },
  {
    title: "R-REL-4 an aggregated column of a view has no relationships",
    request: "GET /port_tonnage?select=tonnage,vessels(name)",
    status: 400,
    ...failure("PGRST200"),
  },
  {
    title: "R-REL-4 a view over a view of a hidden schema has no relationships",
    request: "GET /port_mirror?select=name,vessels(name)",
    status: 400,
    ...failure("PGRST200"),
  },
  {
    title: "R-REL-4 a view over a table of a hidden schema has relationships",
    request: "GET /vessels?select=name,cargo_list(goods)&id=eq.1&cargo_list.order=id",
    answer: [{ name: "Ariel", cargo_list: [{ goods: "salt" }, { goods: "rope" }] }],
  },
  {
    title: "R-REL-5 a relationship leads from a table to a view",
    request: "GET /voyages?select=id,fleet(name)&id=eq.1",
    answer: [{ id: 1, fleet: { name: "Ariel" } }],
  },
  {
    title: "R-REL-5 a relationship leads from a view to a view",
    request: "GET /voyage_sheet?select=voyage_id,crew(rank)&voyage_id=eq.3",
    status: 200,
    answer: [{ voyage_id: 3, crew: [{ rank: "captain" }] }],
  },
  {
    title: "R-REL-6 a view that shows a key column twice makes the relationship ambiguous",
    request: "GET /fleet_twice?select=id,ports(name)",
    status: 300,
    ...failure("PGRST201"),
  },
  {
    title: "R-REL-6 a hint with the column resolves the ambiguity of a key column shown twice",
    request: "GET /fleet_twice?select=id,ports!port_again(name)&id=eq.1",
    answer: [{ id: 1, ports: { name: "Oslo" } }],
  },
  {
    title: "R-REL-7 PUT on a view uses the key derived from its table",
    request: "PUT /fleet?id=eq.1",
    headers: { prefer: "return=representation, tx=rollback" },
    body: { id: 1, name: "Ariel II" },
    status: 200,
    check: (answer) => expect(answer.json()).toEqual([{ id: 1, name: "Ariel II", home_port_id: 1 }]),
  },
  {
    title: "R-REL-8 relations of another schema cannot be embedded",
    request: "GET /ports?select=name,depots(name)",
    status: 400,
    ...failure("PGRST200"),
  },
  {
    title: "R-REL-8 a computed relationship may lead to another schema",
    request: "GET /ports?select=name,land_depots(name)&id=eq.1",
    answer: [{ name: "Oslo", land_depots: [{ name: "Sinsen" }] }],
  },
  {
    title: "R-REL-9 a computed relationship declared with one row is to-one",
    request: "GET /vessels?select=name,home_harbour(name)&order=id",
    answer: [
      { name: "Ariel", home_harbour: { name: "Oslo" } },
      { name: "Fram", home_harbour: { name: "Oslo" } },
      { name: "Gjoa", home_harbour: null },
    ],
  },
  {
    title: "R-REL-9 a computed relationship of a function that returns no set always has a row",
    request: "GET /ports?select=name,flagship(name)&order=id",
    answer: [
      { name: "Oslo", flagship: { name: "Ariel" } },
      { name: "Leith", flagship: { name: null } },
    ],
  },
  {
    title: "R-REL-9 a computed relationship of a function that returns a set is to-many",
    request: "GET /ports?select=name,heavy_vessels(name)&order=id",
    answer: [
      { name: "Oslo", heavy_vessels: [{ name: "Ariel" }, { name: "Fram" }] },
      { name: "Leith", heavy_vessels: [] },
    ],
  },
  {
    title: "R-REL-9 R-REL-9a a computed relationship replaces the detected one of the same name",
    request: "GET /docks?select=name,crane_notes(note)&id=eq.1",
    answer: [{ name: "east", crane_notes: [{ note: "greased" }] }],
  },
  {
    title: "R-REL-9 R-REL-9a an overloaded computed relationship is chosen by the type of its argument",
    request: "GET /vessels?select=name,peers(name)&id=eq.1",
    answer: [{ name: "Ariel", peers: [{ name: "Fram" }, { name: "Gjoa" }] }],
  },
  {
    title: "R-REL-9 R-REL-9a the other overload serves the other relation",
    request: "GET /sailors?select=name,peers(name)&id=eq.4",
    answer: [{ name: 'Jo "Red" Lee', peers: [{ name: "Ada" }, { name: "Bo" }, { name: "Cy" }] }],
  },
  {
    title: "R-REL-9 filters and orders apply to computed relationships",
    request: "GET /ports?select=name,heavy_vessels(name)&heavy_vessels.tonnage=lt.800&heavy_vessels.order=name&id=eq.1",
    answer: [{ name: "Oslo", heavy_vessels: [{ name: "Fram" }] }],
  },
  {
    title: "R-REL-9 computed relationships may contain embeds",
    request: "GET /ports?select=name,flagship(name,crew(rank))&id=eq.1&flagship.crew.order=rank",
    answer: [{ name: "Oslo", flagship: { name: "Ariel", crew: [{ rank: "captain" }, { rank: "mate" }] } }],
  },
  {
    title: "R-REL-10 a foreign key to its own table gives the parent under the name of the column",
    request: "GET /sailors?select=name,mentor_id(name)&id=eq.2",
    answer: [{ name: "Bo", mentor_id: { name: "Ada" } }],
  },
  {
    title: "R-REL-10 a foreign key to its own table gives the children under the name of the relation",
    request: "GET /sailors?select=name,sailors(name)&id=eq.1",
    answer: [{ name: "Ada", sailors: [{ name: "Bo" }] }],
  },
]);

describe("other kinds of relations", () => {
  cases(api, [
    {
      title: "R-REL-4 a materialized view that shows a key has its relationships",
      request: "GET /port_tonnage?select=port_id,ports(name)",
      answer: [{ port_id: 1, ports: { name: "Oslo" } }],
    },
    {
      title: "R-REL-1 a foreign table is a relation without relationships",
      when: capabilities.foreignTables,
      request: "GET /engine_plates?select=plate,vessels(name)",
      status: 400,
      ...failure("PGRST200"),
    },
  ]);
});
