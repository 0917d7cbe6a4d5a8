import { beforeAll, describe, expect, test } from "vitest";
import type { Model } from "../../core/index.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { inSchema, load, relationIn, ways } from "./load-model.ts";

let model: Model;
let setup: TestDatabase;

beforeAll(async () => {
  setup = await testDatabase();
  ({ model } = await load());
});

describe("views", () => {
  test("R-REL-4 columns are traced through joins, subqueries, CTEs and views, with any names; expressions are not", async () => {
    const { model } = await inSchema(
      setup,
      `
      create table yard.base (id int primary key, "a {b} (c) \\ d" int, n int);
      create table yard.other (id int primary key, base_id int references yard.base);
      create view yard.odd as
        select n as ":resorigtbl 1 :resorigcol 1", "a {b} (c) \\ d" as "x } ) :targetList (", id as "the id", (select max(o.id) from yard.other o) as top
        from yard.base;
      create view yard.deep as
        with picked as (select id as p, n from yard.base where n > 0)
        select s.p as base_key, o.*, count(*) over (partition by s.n) as total, s.n + 1 as expression
        from (select p, n from picked order by n) s
        left join lateral (select other.id as other_key, other.base_id from yard.other where other.base_id = s.p order by 1) o on true
        where exists (select 1 from yard.base b where b.id = s.p)
        order by s.n;
      create materialized view yard.stored as select distinct on (base_key) base_key as stored_key, other_key from yard.deep order by base_key, total;
      create view yard.merged as select id, b.n from yard.base b full join yard.other using (id);
      create view yard.united as select id from yard.base union select id from yard.other;
      create view yard.grouped as select id, count(*) as n from yard.base group by id;
      create view yard.odder as select "the id" as "še }" from yard.odd`,
    );
    const key = (name: string) => relationIn(model, name, "yard").primaryKey;
    expect(key("odd")).toEqual(["the id"]);
    expect(key("deep")).toEqual(["base_key", "other_key"]);
    expect(key("stored")).toEqual(["stored_key", "other_key"]);
    expect(key("merged")).toEqual([]);
    expect(key("united")).toEqual([]);
    expect(key("grouped")).toEqual(["id"]);
    expect(key("odder")).toEqual(["še }"]);
    expect(ways(model, "deep", "base", "yard")).toEqual(["many-to-one base by base_id=id"]);
    expect(ways(model, "other", "odder", "yard")).toEqual(["many-to-one odder by base_id=še }"]);
  });

  test("R-REL-4 a chain ends at a hidden view, unless its schema is in the extra search path", async () => {
    expect(relationIn(model, "port_mirror").primaryKey).toEqual([]);
    expect(ways(model, "port_mirror")).toEqual([]);
    const { model: wider } = await load({ extraSearchPath: ["public", "hold"] });
    expect(relationIn(wider, "port_mirror").primaryKey).toEqual(["id"]);
    expect(ways(wider, "port_mirror", "vessels")).toEqual(["one-to-many vessels by id=home_port_id"]);
  });

  test("R-REL-4 views that read each other are not followed", async () => {
    const { model } = await inSchema(
      setup,
      `
      create table yard.base (id int primary key);
      create view yard.a as select id from yard.base;
      create view yard.b as select id from yard.a;
      create or replace view yard.a as select id from yard.b`,
    );
    expect(relationIn(model, "a", "yard").primaryKey).toEqual([]);
    expect(relationIn(model, "b", "yard").writable).toEqual({ insert: false, update: false, delete: false });
  });

  test("R-REL-5 a view has a key only if it shows all columns of the key", async () => {
    const { model } = await inSchema(
      setup,
      `
      create table yard.berths (port int, number int, primary key (port, number));
      create table yard.moorings (id int primary key, port int, number int, foreign key (port, number) references yard.berths);
      create view yard.whole as select number as no, port as harbour from yard.berths;
      create view yard.half as select port from yard.berths;
      create view yard.half_key as select id, port from yard.moorings;
      create view yard.whole_key as select id, number, port from yard.moorings`,
    );
    expect(relationIn(model, "whole", "yard").primaryKey).toEqual(["harbour", "no"]);
    expect(relationIn(model, "half", "yard").primaryKey).toEqual([]);
    expect(ways(model, "moorings", undefined, "yard")).toEqual([
      "many-to-one berths by port=port,number=number",
      "many-to-one whole by port=harbour,number=no",
    ]);
    expect(ways(model, "half_key", undefined, "yard")).toEqual([]);
    expect(ways(model, "whole_key", "whole", "yard")).toEqual(["many-to-one whole by port=harbour,number=no"]);
    expect(ways(model, "whole", undefined, "yard")).toEqual([
      "one-to-many moorings by harbour=port,no=number",
      "one-to-many whole_key by harbour=port,no=number",
    ]);
  });

  test("R-REL-5 keys of a table give relationships to, from and between its views, with the constraint's name and cardinality", () => {
    expect(ways(model, "cargo_list", "vessels")).toEqual(["many-to-one vessels by vessel_id=id"]);
    expect(ways(model, "cargo_list", "fleet_names")).toEqual(["many-to-one fleet_names by vessel_id=id"]);
    expect(ways(model, "fleet_names", "cargo_list")).toEqual(["one-to-many cargo_list by id=vessel_id"]);
    expect(ways(model, "registrations", "fleet")).toEqual(["one-to-one fleet by vessel_id=id"]);
    const way = relationIn(model, "cargo_list").relationships.find(({ target }) => target.name === "fleet");
    expect(way).toMatchObject({ constraint: "cargo_vessel_id_fkey", isOwnKey: true, isToOne: true });
  });

  test("R-REL-6 a column that is shown several times gives one relationship for every combination", () => {
    expect(ways(model, "fleet_twice", "ports")).toEqual([
      "many-to-one ports by home_port_id=id",
      "many-to-one ports by port_again=id",
    ]);
    expect(ways(model, "voyages", "fleet_twice")).toEqual([
      "many-to-one fleet_twice by vessel_id=id",
      "many-to-one fleet_twice by vessel_id=same_id",
    ]);
    const ids = relationIn(model, "fleet_twice").relationships.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("R-REL-7 the key of a view combines those of its tables; a column shown twice counts once", () => {
    expect(relationIn(model, "fleet").primaryKey).toEqual(["id"]);
    expect(relationIn(model, "fleet_twice").primaryKey).toEqual(["id"]);
    expect(relationIn(model, "voyage_sheet").primaryKey).toEqual(["voyage_id", "vessel_id"]);
    expect(relationIn(model, "cargo_list").primaryKey).toEqual(["id"]);
    expect(relationIn(model, "port_tonnage").primaryKey).toEqual([]);
    expect(relationIn(model, "all_names").primaryKey).toEqual([]);
    expect(relationIn(model, "harbours", "land").primaryKey).toEqual(["id"]);
  });

  test("R-REL-7 a view of a partition has the partition's key", async () => {
    const { model } = await inSchema(
      setup,
      `
      create table yard.soundings (id int, year int, primary key (id, year)) partition by list (year);
      create table yard.soundings_1 partition of yard.soundings for values in (1);
      create view yard.first as select year, id from yard.soundings_1`,
    );
    expect([...model.relations.values()].map(({ name }) => name)).toEqual(["first", "soundings"]);
    expect(relationIn(model, "first", "yard").primaryKey).toEqual(["id", "year"]);
  });
});

describe("relationships", () => {
  test("R-REL-2 a foreign key gives a relationship in each direction, one-to-one if its columns are a key themselves", async () => {
    expect(ways(model, "vessels", "voyages")).toEqual(["one-to-many voyages by id=vessel_id"]);
    expect(ways(model, "voyages", "vessels")).toEqual(["many-to-one vessels by vessel_id=id"]);
    expect(ways(model, "registrations", "vessels")).toEqual(["one-to-one vessels by vessel_id=id"]);
    expect(ways(model, "vessels", "registrations")).toEqual(["one-to-one registrations by id=vessel_id"]);
    const { model: yardModel } = await inSchema(
      setup,
      `
      create table yard.a (x int, y int, primary key (x, y));
      create table yard.b (p int, q int, r int, unique (q, p), unique (p, q, r), foreign key (p, q) references yard.a);
      create table yard.c (p int unique, q int, foreign key (p, q) references yard.a)`,
    );
    expect(ways(yardModel, "b", "a", "yard")).toEqual(["one-to-one a by p=x,q=y"]);
    expect(ways(yardModel, "c", "a", "yard")).toEqual(["many-to-one a by p=x,q=y"]);
  });

  test("R-REL-2 keys to and from partitioned tables count once", async () => {
    const { model } = await inSchema(
      setup,
      `
      create table yard.ports (id int primary key);
      create table yard.visits (id int, year int, port_id int references yard.ports, primary key (id, year)) partition by list (year);
      create table yard.visits_1 partition of yard.visits for values in (1);
      create table yard.visits_2 partition of yard.visits for values in (2);
      create table yard.bills (visit_id int, year int, foreign key (visit_id, year) references yard.visits)`,
    );
    expect(ways(model, "ports", undefined, "yard")).toEqual(["one-to-many visits by id=port_id"]);
    expect(ways(model, "visits", undefined, "yard")).toEqual([
      "many-to-one ports by port_id=id",
      "one-to-many bills by id=visit_id,year=year",
    ]);
    expect(ways(model, "bills", undefined, "yard")).toEqual(["many-to-one visits by visit_id=id,year=year"]);
  });

  test("R-REL-3 two foreign keys inside the junction's primary key give a many-to-many relationship in both directions", async () => {
    expect(ways(model, "vessels", "sailors")).toEqual(["many-to-many sailors by crew[id=vessel_id|id=sailor_id]"]);
    expect(ways(model, "sailors", "vessels")).toEqual(["many-to-many vessels by crew[id=sailor_id|id=vessel_id]"]);
    expect(ways(model, "docks", "cranes")).toEqual([
      "many-to-many cranes by dock_cranes[id=dock_id|id=crane_id]",
      "many-to-many cranes by dock_repairs[id=dock_id|id=crane_id]",
      "many-to-many cranes by shifts[id=dock_id|id=backup_crane_id]",
      "many-to-many cranes by shifts[id=dock_id|id=crane_id]",
    ]);
    const { model: yardModel } = await inSchema(
      setup,
      `
      create table yard.a (id int primary key);
      create table yard.b (id int primary key);
      create table yard.outside (a_id int references yard.a, b_id int references yard.b, primary key (a_id));
      create table yard.single (a_id int references yard.a, b_id int unique references yard.b, primary key (a_id, b_id));
      create table yard.wider (a_id int references yard.a, b_id int references yard.b, n int, primary key (n, b_id, a_id))`,
    );
    expect(ways(yardModel, "a", "b", "yard")).toEqual(["many-to-many b by wider[id=a_id|id=b_id]"]);
  });

  test("R-REL-3 a hidden junction is used through a view of an exposed schema", () => {
    expect(ways(model, "watches", "sailors")).toEqual(["many-to-many sailors by roster[id=watch_id|id=sailor_id]"]);
    expect(ways(model, "sailors", "watches")).toEqual(["many-to-many watches by roster[id=sailor_id|id=watch_id]"]);
  });

  test("R-REL-8 views and junctions give no relationships across schemas; foreign keys do, with both names", () => {
    expect(ways(model, "depots", "ports", "land")).toEqual(["many-to-one ports by port_id=id"]);
    expect(ways(model, "depots", "harbours", "land")).toEqual(["many-to-one harbours by port_id=id"]);
    expect(ways(model, "vessels", "harbours")).toEqual([]);
    expect(ways(model, "harbours", "vessels", "land")).toEqual([]);
  });

  test("R-REL-9 a function of one row to rows of a relation is a relationship, to-one when single or ROWS 1", () => {
    expect(ways(model, "vessels", "ports")).toEqual([
      "many-to-one ports by home_harbour()",
      "many-to-one ports by home_port_id=id",
    ]);
    expect(ways(model, "ports", "vessels")).toEqual([
      "many-to-one vessels by flagship()",
      "one-to-many vessels by heavy_vessels()",
      "one-to-many vessels by id=home_port_id",
    ]);
    expect(ways(model, "vessels", "vessels")).toEqual(["one-to-many vessels by peers()"]);
    expect(ways(model, "sailors", "sailors").filter((way) => way.endsWith("()"))).toEqual([
      "one-to-many sailors by peers()",
    ]);
    expect(ways(model, "ports", "depots")).toEqual([
      "one-to-many depots by id=port_id",
      "one-to-many depots by land_depots()",
    ]);
  });

  test("R-REL-9 a computed relationship replaces detected relationships to a relation of the function's name", () => {
    expect(ways(model, "docks", "crane_notes")).toEqual(["one-to-many crane_notes by crane_notes()"]);
    expect(ways(model, "cranes", "crane_notes")).toEqual(["one-to-many crane_notes by id=crane_id"]);
  });

  test("R-REL-10 a key of a table to itself gives a relationship in each direction, distinguished by the side with the key", () => {
    const selfRelationships = relationIn(model, "sailors").relationships.filter(
      ({ constraint }) => constraint === "sailors_mentor_id_fkey",
    );
    expect(
      selfRelationships.map(({ cardinality, isToOne, isOwnKey, columns }) => ({
        cardinality,
        isToOne,
        isOwnKey,
        columns,
      })),
    ).toEqual([
      { cardinality: "many-to-one", isToOne: true, isOwnKey: true, columns: [["mentor_id", "id"]] },
      { cardinality: "one-to-many", isToOne: false, isOwnKey: false, columns: [["id", "mentor_id"]] },
    ]);
    const twins = relationIn(model, "buoys").relationships.filter(
      ({ constraint }) => constraint === "buoys_twin_id_fkey",
    );
    expect(twins.map(({ isToOne, isOwnKey }) => [isToOne, isOwnKey])).toEqual([
      [true, true],
      [true, false],
    ]);
    expect(ways(model, "buoys").filter((way) => way.startsWith("many-to-many"))).toEqual([
      "many-to-many buoys by buoy_links[id=from_id|id=to_id]",
      "many-to-many buoys by buoy_links[id=to_id|id=from_id]",
    ]);
  });

  test("R-REL-1 ids of relationships are unique per source and equal after a reload", async () => {
    const listIds = (loadedModel: Model) =>
      new Map([...loadedModel.relations].map(([key, relation]) => [key, relation.relationships.map(({ id }) => id)]));
    for (const ids of listIds(model).values()) expect(new Set(ids).size).toBe(ids.length);
    expect(listIds((await load()).model)).toEqual(listIds(model));
    expect(relationIn(model, "voyages").relationships.map(({ id }) => id)).toContain("voyages_origin_id_fkey>ports");
    const { model: odd } = await inSchema(
      setup,
      `
      create table yard.a (id int primary key);
      create table yard.b (a_id int constraint same references yard.a);
      create table yard.c (a_id int constraint same references yard.a)`,
    );
    const ids = relationIn(odd, "a", "yard").relationships.map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });
});
