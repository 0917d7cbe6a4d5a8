import { describe, expect, test } from "vitest";
import { compose, without } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { startApi, uncountedRange } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { bearer } from "../support/tokens.ts";

const api = await startApi();
const strictApi = await startApi({ urlUseLegacyTargetNames: false });

const names = (...list: readonly string[]) => list.map((name) => ({ name }));
const ids = (...list: readonly number[]) => list.map((id) => ({ id }));
const code = (expected: string) => ({
  check: (answer: { json(): { readonly code: string } }) => expect(answer.json().code).toBe(expected),
});

const notFound = (source: string, target: string, hint: string | null = null, embedHint?: string) => ({
  code: "PGRST200",
  details: `Searched for a foreign key relationship between '${source}' and '${target}'${embedHint === undefined ? "" : ` using the hint '${embedHint}'`} in the schema 'sea', but no matches were found.`,
  hint,
  message: `Could not find a relationship between '${source}' and '${target}' in the schema cache`,
});
const notEmbedded = (name: string) => ({
  code: "PGRST108",
  details: null,
  hint: `Verify that '${name}' is included in the 'select' query parameter.`,
  message: `'${name}' is not an embedded resource in this request`,
});
const deprecationWarning = (list: string) =>
  new RegExp(
    `^299 PostgRESTv\\S+ "Embedded resource was referenced by relation name even though it has an alias. This is deprecated and will stop working in a future release. Update ${list} in query string filters, orders or limits."$`,
  );

describe("choosing the relationship", () => {
  cases(api, [
    {
      title: "R-EMB-1 an embed is named by its relation",
      request: "GET /vessels?select=ports(name)&id=eq.1",
      answer: [{ ports: { name: "Oslo" } }],
    },
    {
      title: "R-EMB-1 an embed is named by its constraint",
      request: "GET /vessels?select=vessels_home_port_id_fkey(name)&id=eq.1",
      answer: [{ vessels_home_port_id_fkey: { name: "Oslo" } }],
    },
    {
      title: "R-EMB-1 an embed is named by the column of its foreign key",
      request: "GET /vessels?select=home_port_id(name)&id=eq.1",
      answer: [{ home_port_id: { name: "Oslo" } }],
    },
    {
      title: "R-EMB-1 the constraint is an embed hint",
      request: "GET /voyages?select=ports!voyages_origin_id_fkey(name)&id=eq.1",
      answer: [{ ports: { name: "Oslo" } }],
    },
    {
      title: "R-EMB-1 the source's column is an embed hint",
      request: "GET /voyages?select=ports!destination_id(name)&id=eq.1",
      answer: [{ ports: { name: "Leith" } }],
    },
    {
      title: "R-EMB-1 the target's column is an embed hint",
      request: "GET /ports?select=name,voyages!origin_id(id)&voyages.order=id&order=id",
      answer: [
        { name: "Oslo", voyages: ids(1, 3) },
        { name: "Leith", voyages: ids(2) },
      ],
    },
    {
      title: "R-EMB-1 the junction is an embed hint",
      request: "GET /docks?select=cranes!dock_repairs(name)&id=eq.1",
      answer: [{ cranes: names("big") }],
    },
    {
      title: "R-EMB-1 an embed hint that matches no relationship is rejected",
      request: "GET /vessels?select=ports!anchor(name)",
      status: 400,
      answer: notFound("vessels", "ports", null, "anchor"),
    },
    {
      title: "R-EMB-1 a self reference by its relation returns the children",
      request: "GET /sailors?select=name,pupils:sailors(name)&id=eq.1",
      answer: [{ name: "Ada", pupils: names("Bo") }],
    },
    {
      title: "R-EMB-1 a self reference by its column returns the parent",
      request: "GET /sailors?select=name,mentor:mentor_id(name)&id=eq.2",
      answer: [{ name: "Bo", mentor: { name: "Ada" } }],
    },
    {
      title: "R-EMB-1 a self reference with a column as hint returns the children by that column",
      request: "GET /buoys?select=name,buoys!field_id(name)&id=eq.2",
      answer: [{ name: "green", buoys: names("white") }],
    },
    {
      title: "R-EMB-1 several self references without a hint are ambiguous",
      request: "GET /buoys?select=name,buoys(name)",
      status: 300,
      ...code("PGRST201"),
    },
    {
      title: "R-EMB-1 constraints do not name self references",
      request: "GET /sailors?select=sailors_mentor_id_fkey(name)",
      status: 400,
      answer: notFound("sailors", "sailors_mentor_id_fkey"),
    },
    {
      title: "R-EMB-1 a one-to-one self reference cannot be embedded",
      request: "GET /buoys?select=twin_id(name)",
      status: 400,
      ...code("PGRST200"),
    },
    {
      title: "R-EMB-1 a many-to-many self reference cannot be embedded",
      request: "GET /buoys?select=buoys!buoy_links(name)",
      status: 400,
      ...code("PGRST200"),
    },
    {
      title: "R-EMB-1 a column does not name a relationship to a view",
      request: "GET /voyages?select=vessel_id(name)&id=eq.1",
      answer: [{ vessel_id: { name: "Ariel" } }],
    },
    {
      title: "R-EMB-1 a computed relationship ignores the embed hint",
      request: "GET /ports?select=flagship!whatever(name)&id=eq.1",
      answer: [{ flagship: { name: "Ariel" } }],
    },
    {
      title: "R-EMB-2 an embed without a relationship is rejected",
      request: "GET /vessels?select=*,wharf(*)",
      status: 400,
      answer: notFound("vessels", "wharf"),
    },
    {
      title: "R-EMB-2 an embed with several relationships is ambiguous",
      request: "GET /docks?select=cranes(name)",
      status: 300,
      statusText: "Multiple Choices",
      ...code("PGRST201"),
    },
    {
      title: "R-EMB-3 the key of an embed is the written name",
      request: "GET /voyages?select=origin_id(name)&id=eq.1",
      answer: [{ origin_id: { name: "Oslo" } }],
    },
    {
      title: "R-EMB-3 an alias separates an embed from the column of the same name",
      request: "GET /voyages?select=origin_id,origin:origin_id(name)&id=eq.1",
      answer: [{ origin_id: 1, origin: { name: "Oslo" } }],
    },
    {
      title: "R-EMB-4 rows of a function may contain embeds",
      request: "GET /rpc/vessels_of?port=1&select=name,ports(name),crew(rank)&crew.rank=eq.mate",
      answer: [
        { name: "Ariel", ports: { name: "Oslo" }, crew: [{ rank: "mate" }] },
        { name: "Fram", ports: { name: "Oslo" }, crew: [] },
      ],
    },
    {
      title: "R-EMB-4 a representation may contain embeds",
      request: "PATCH /vessels?id=eq.1&select=name,ports(name)",
      headers: { prefer: "return=representation, tx=rollback" },
      body: { tonnage: 1 },
      answer: [{ name: "Ariel", ports: { name: "Oslo" } }],
    },
    {
      title: "R-EMB-4 an error names the written relation as the source",
      request: "POST /vessels?select=name,wharf(*)",
      headers: { prefer: "return=representation, tx=rollback" },
      body: { name: "X" },
      status: 400,
      answer: notFound("vessels", "wharf"),
    },
  ]);
});

describe("ambiguity", () => {
  cases(api, [
    {
      title: "R-EMB-5 R-EMB-5a the error of an ambiguous embed lists the relationships and hints",
      request: "GET /voyages?select=ports(name)",
      status: 300,
      answer: {
        code: "PGRST201",
        details: [
          {
            cardinality: "many-to-one",
            embedding: "voyages with ports",
            relationship: "voyages_destination_id_fkey using voyages(destination_id) and ports(id)",
          },
          {
            cardinality: "many-to-one",
            embedding: "voyages with ports",
            relationship: "voyages_origin_id_fkey using voyages(origin_id) and ports(id)",
          },
        ],
        hint: "Try changing 'ports' to one of the following: 'ports!voyages_destination_id_fkey', 'ports!voyages_origin_id_fkey'. Find the desired relationship in the 'details' key.",
        message: "Could not embed because more than one relationship was found for 'voyages' and 'ports'",
      },
    },
    {
      title: "R-EMB-5 several junctions are ambiguous",
      request: "GET /docks?select=cranes(name)",
      status: 300,
      answer: {
        code: "PGRST201",
        details: [
          {
            cardinality: "many-to-many",
            embedding: "docks with cranes",
            relationship: "dock_cranes using dock_cranes_dock_id_fkey(dock_id) and dock_cranes_crane_id_fkey(crane_id)",
          },
          {
            cardinality: "many-to-many",
            embedding: "docks with cranes",
            relationship:
              "dock_repairs using dock_repairs_dock_id_fkey(dock_id) and dock_repairs_crane_id_fkey(crane_id)",
          },
          {
            cardinality: "many-to-many",
            embedding: "docks with cranes",
            relationship: "shifts using shifts_dock_id_fkey(dock_id) and shifts_backup_fkey(backup_crane_id)",
          },
          {
            cardinality: "many-to-many",
            embedding: "docks with cranes",
            relationship: "shifts using shifts_dock_id_fkey(dock_id) and shifts_main_fkey(crane_id)",
          },
        ],
        hint: "Try changing 'cranes' to one of the following: 'cranes!dock_cranes', 'cranes!dock_repairs', 'cranes!shifts', 'cranes!shifts'. Find the desired relationship in the 'details' key.",
        message: "Could not embed because more than one relationship was found for 'docks' and 'cranes'",
      },
    },
    {
      title: "R-EMB-5 the error of an ambiguous embed names views and their columns",
      request: "GET /fleet_twice?select=ports(name)",
      status: 300,
      check: (answer) =>
        expect(answer.json().details).toEqual([
          {
            cardinality: "many-to-one",
            embedding: "fleet_twice with ports",
            relationship: "vessels_home_port_id_fkey using fleet_twice(home_port_id) and ports(id)",
          },
          {
            cardinality: "many-to-one",
            embedding: "fleet_twice with ports",
            relationship: "vessels_home_port_id_fkey using fleet_twice(port_again) and ports(id)",
          },
        ]),
    },
  ]);
});

describe("names", () => {
  cases(api, [
    {
      title: "R-EMB-6 parameters name an embed by its alias",
      request: "GET /ports?select=name,big:vessels(name)&big.tonnage=gt.500&big.order=name&big.limit=1&id=eq.1",
      answer: [{ name: "Oslo", big: names("Ariel") }],
      responseHeaders: { warning: null },
    },
    {
      title: "R-EMB-6 dots separate the aliases of nested embeds",
      request: "GET /ports?select=ships:vessels(hands:crew(rank))&ships.hands.rank=eq.mate&ships.id=eq.1&id=eq.1",
      answer: [{ ships: [{ hands: [{ rank: "mate" }] }] }],
    },
    {
      title: "R-EMB-7 parameters name an aliased embed by its written name too",
      request: "GET /ports?select=name,big:vessels(name)&vessels.tonnage=gt.500&id=eq.1",
      answer: [{ name: "Oslo", big: names("Ariel") }],
      responseHeaders: { warning: deprecationWarning("`vessels` to `big`") },
    },
    {
      title: "R-EMB-7 written names work on each level of nested embeds",
      request:
        "GET /ports?select=name,big:vessels(h:crew(rank))&vessels.tonnage=gt.500&vessels.crew.rank=eq.mate&vessels.order=id&id=eq.1",
      answer: [{ name: "Oslo", big: [{ h: [{ rank: "mate" }] }] }],
      responseHeaders: { warning: deprecationWarning("`vessels` to `big`, `crew` to `h`") },
    },
    {
      title: "R-EMB-7 parameters apply to the first of two embeds of one relation",
      request: "GET /ports?select=name,a:vessels(id),b:vessels(id)&vessels.id=eq.2&id=eq.1&b.order=id",
      answer: [{ name: "Oslo", a: ids(2), b: ids(1, 2) }],
    },
    {
      title: "R-EMB-7 a null filter needs the alias of an embed",
      request: "GET /ports?select=name,ships:vessels()&vessels=is.null",
      status: 400,
      ...code("42703"),
    },
    {
      title: "R-EMB-8 a filter whose path names no embed is rejected",
      request: "GET /vessels?select=name&ports.name=eq.Oslo",
      status: 400,
      answer: notEmbedded("ports"),
    },
    {
      title: "R-EMB-8 a filter whose path names no nested embed is rejected",
      request: "GET /vessels?select=name,ports(name)&ports.wharf.name=eq.x",
      status: 400,
      answer: notEmbedded("wharf"),
    },
    {
      title: "R-EMB-8 an order whose path names no embed is rejected",
      request: "GET /vessels?select=name&ports.order=name",
      status: 400,
      answer: notEmbedded("ports"),
    },
    {
      title: "R-EMB-8 a limit whose path names no embed is rejected",
      request: "GET /vessels?select=name&ports.limit=1",
      status: 400,
      answer: notEmbedded("ports"),
    },
    {
      title: "R-EMB-8 a logic tree whose path names no embed is rejected",
      request: "GET /vessels?select=name&ports.or=(name.eq.x)",
      status: 400,
      answer: notEmbedded("ports"),
    },
    {
      title: "R-EMB-8 a write rejects a filter whose path names no embed",
      request: "DELETE /logbook?ports.name=eq.x",
      headers: { prefer: "return=representation, tx=rollback" },
      status: 400,
      answer: notEmbedded("ports"),
    },
  ]);

  cases(strictApi, [
    {
      title: "R-EMB-7 R-EMB-7a if the setting is off, the written name of an aliased embed is rejected",
      request: "GET /ports?select=name,big:vessels(name)&vessels.tonnage=gt.500",
      status: 400,
      answer: {
        code: "PGRST108",
        details: "Target names are not allowed in filters if they have an alias",
        hint: "Change 'vessels' to 'big' in filters, orders or limits.",
        message: "'vessels' is not an embedded resource in this request",
      },
    },
    {
      title: "R-EMB-7 if the setting is off, the path names a later embed without an alias",
      request: "GET /ports?select=name,a:vessels(id),vessels(id)&vessels.id=eq.2&a.order=id&id=eq.1",
      answer: [{ name: "Oslo", a: ids(1, 2), vessels: ids(2) }],
      responseHeaders: { warning: null },
    },
    {
      title: "R-EMB-7 if the setting is off, the alias works",
      request: "GET /ports?select=big:vessels(name)&big.tonnage=gt.500&id=eq.1",
      answer: [{ big: names("Ariel") }],
    },
  ]);
});

describe("shapes", () => {
  cases(api, [
    {
      title: "R-EMB-9 a to-one embed is an object or null",
      request: "GET /vessels?select=name,home:ports(name)&order=tonnage.desc",
      answer: [
        { name: "Ariel", home: { name: "Oslo" } },
        { name: "Fram", home: { name: "Oslo" } },
        { name: "Gjoa", home: null },
      ],
      responseHeaders: {
        "content-range": uncountedRange("0-2"),
        "content-location": "/vessels?order=tonnage.desc&select=name%2Chome%3Aports%28name%29",
      },
    },
    {
      title: "R-EMB-9 a to-many embed is an array, which is empty without related rows",
      request: "GET /ports?select=name,vessels(name)&vessels.order=id&order=id",
      answer: [
        { name: "Oslo", vessels: names("Ariel", "Fram") },
        { name: "Leith", vessels: [] },
      ],
    },
    {
      title: "R-EMB-10 filters of an embed remove no parents",
      request: "GET /ports?select=name,vessels(name)&vessels.name=eq.Nobody&order=id",
      answer: [
        { name: "Oslo", vessels: [] },
        { name: "Leith", vessels: [] },
      ],
    },
    {
      title: "R-EMB-10 a to-one embed whose row is filtered out is null",
      request: "GET /vessels?select=name,ports(name)&ports.name=eq.Leith&id=eq.1",
      answer: [{ name: "Ariel", ports: null }],
    },
    {
      title: "R-EMB-10 an offset of an embed removes no parents",
      request: "GET /vessels?select=name,ports(name)&ports.offset=1&id=eq.1",
      answer: [{ name: "Ariel", ports: null }],
    },
    {
      title: "R-EMB-11 an inner embed removes parents without related rows",
      request: "GET /ports?select=name,vessels!inner(name)&vessels.tonnage=gt.500",
      answer: [{ name: "Oslo", vessels: names("Ariel") }],
    },
    {
      title: "R-EMB-11 an inner to-one embed removes parents without a related row",
      request: "GET /vessels?select=name,ports!inner(name)&order=id",
      answer: [
        { name: "Ariel", ports: { name: "Oslo" } },
        { name: "Fram", ports: { name: "Oslo" } },
      ],
    },
    {
      title: "R-EMB-11 a filter on an inner to-one embed removes parents",
      request: "GET /vessels?select=name,ports!inner(name)&ports.name=eq.Leith",
      answer: [],
    },
    {
      title: "R-EMB-11 an inner embed within an inner embed removes parents",
      request: "GET /ports?select=name,vessels!inner(name,crew!inner(rank))&vessels.crew.rank=eq.mate",
      answer: [{ name: "Oslo", vessels: [{ name: "Ariel", crew: [{ rank: "mate" }] }] }],
    },
    {
      title: "R-EMB-11 an inner embed within an outer embed trims only that embed",
      request: "GET /ports?select=name,vessels(name,crew!inner(rank))&vessels.crew.rank=eq.mate&order=id",
      answer: [
        { name: "Oslo", vessels: [{ name: "Ariel", crew: [{ rank: "mate" }] }] },
        { name: "Leith", vessels: [] },
      ],
    },
    {
      title: "R-EMB-11 counts leave out parents that an inner embed removes",
      request: "GET /ports?select=name,vessels!inner(name)&limit=1",
      headers: { prefer: "count=exact" },
      status: 200,
      responseHeaders: { "content-range": "0-0/1" },
    },
    {
      title: "R-EMB-11 an inner embed through a junction removes parents",
      request: "GET /vessels?select=name,sailors!inner(name)&sailors.name=eq.Cy",
      answer: [{ name: "Fram", sailors: names("Cy") }],
    },
    {
      title: "R-EMB-11 an inner embed of a computed relationship removes parents",
      request: "GET /ports?select=name,heavy_vessels!inner(name)&heavy_vessels.order=id",
      answer: [{ name: "Oslo", heavy_vessels: names("Ariel", "Fram") }],
    },
    {
      title: "R-EMB-12 one relation may be embedded several times, each with its own filters",
      request:
        "GET /ports?select=name,big:vessels(name),small:vessels(name)&big.tonnage=gt.500&small.tonnage=lte.500&order=id",
      answer: [
        { name: "Oslo", big: names("Ariel"), small: names("Fram") },
        { name: "Leith", big: [], small: [] },
      ],
    },
    {
      title: "R-EMB-12 nested embeds may return to the first relation",
      request:
        "GET /ports?select=name,vessels(name,voyages(id,destination:ports!destination_id(name,vessels(name))))&vessels.id=eq.1&vessels.voyages.order=id&vessels.voyages.destination.vessels.order=id&id=eq.1",
      answer: [
        {
          name: "Oslo",
          vessels: [
            {
              name: "Ariel",
              voyages: [
                { id: 1, destination: { name: "Leith", vessels: [] } },
                { id: 2, destination: { name: "Oslo", vessels: names("Ariel", "Fram") } },
              ],
            },
          ],
        },
      ],
    },
    {
      title: "R-EMB-12 two embeds of one target need an alias",
      request: "GET /ports?select=vessels(id),vessels(name)",
      status: 400,
      answer: {
        code: "42712",
        details: null,
        hint: null,
        message: 'table name "ports_vessels_1" specified more than once',
      },
    },
    {
      title: "R-EMB-12 two embeds with one alias are rejected",
      request: "GET /voyages?select=x:vessels(id),x:origin_id(name)",
      status: 400,
      answer: {
        code: "42712",
        details: null,
        hint: null,
        message: 'table name "voyages_x_1" specified more than once',
      },
    },
    {
      title: "R-EMB-12 limits of to-many embeds are per parent",
      request: "GET /vessels?select=id,crew(rank)&crew.order=rank&crew.limit=1&order=id",
      answer: [
        { id: 1, crew: [{ rank: "captain" }] },
        { id: 2, crew: [{ rank: "captain" }] },
        { id: 3, crew: [] },
      ],
    },
    {
      title: "R-EMB-13 an empty embed adds no key",
      request: "GET /ports?select=name,vessels()&order=id",
      answer: names("Oslo", "Leith"),
    },
    {
      title: "R-EMB-13 an empty inner embed removes parents",
      request: "GET /ports?select=name,vessels!inner()",
      answer: names("Oslo"),
    },
    {
      title: "R-EMB-13 an empty inner embed applies its filters",
      request: "GET /ports?select=name,vessels!inner()&vessels.tonnage=lt.100",
      answer: [],
    },
    {
      title: "R-EMB-13 an embed of only empty embeds is empty",
      request: "GET /ports?select=name,vessels!inner(crew!inner())&vessels.crew.rank=eq.mate",
      answer: names("Oslo"),
    },
    {
      title: "R-EMB-13 an embed that has more than empty embeds adds its key",
      request: "GET /ports?select=name,vessels(name,crew!inner())&vessels.crew.rank=eq.mate&id=eq.1",
      answer: [{ name: "Oslo", vessels: names("Ariel") }],
    },
    {
      title: "R-EMB-14 embedded rows obey their own privileges",
      request: "GET /vessels?select=name,ports(country)",
      role: "sea_deckhand",
      status: 403,
      ...code("42501"),
    },
    {
      title: "R-EMB-14 aliases inside an embed may equal names outside",
      request: "GET /vessels?select=name,ports(vessels:name,id:country)&id=eq.1",
      answer: [{ name: "Ariel", ports: { vessels: "Oslo", id: "NO" } }],
    },
    {
      title: "R-EMB-14 an embed may have the name of a column in its own relation",
      request: "GET /ports?select=id,name:vessels(name)&id=eq.1&name.order=id",
      answer: [{ id: 1, name: names("Ariel", "Fram") }],
    },
    {
      title: "R-EMB-16 a column may share its name with an embed",
      request: "GET /repairs?select=*,status(*)&status=eq.3",
      answer: [{ id: 1, status: { id: 3, label: "done" }, what: "mast" }],
    },
    {
      title: "R-EMB-17 views can be embedded",
      request: "GET /fleet?select=name,crew(rank)&id=eq.2",
      answer: [{ name: "Fram", crew: [{ rank: "captain" }] }],
    },
    {
      title: "R-EMB-17 materialized views can be embedded",
      request: "GET /port_tonnage?select=tonnage,ports(name)",
      answer: [{ tonnage: 1255, ports: { name: "Oslo" } }],
    },
    {
      title: "R-EMB-17 partitioned tables can be embedded",
      request: "GET /soundings?select=id,ports(name)&order=id",
      answer: [
        { id: 1, ports: { name: "Oslo" } },
        { id: 2, ports: { name: "Oslo" } },
      ],
    },
    {
      title: "R-EMB-17 a single partition cannot be embedded",
      request: "GET /ports?select=name,soundings_2024(id)",
      status: 400,
      ...code("PGRST200"),
    },
    {
      title: "R-EMB-18 a junction can be embedded with its own columns",
      request: "GET /vessels?select=name,crew(rank,...sailors(name))&id=eq.1&crew.order=rank",
      answer: [
        {
          name: "Ariel",
          crew: [
            { rank: "captain", name: "Ada" },
            { rank: "mate", name: "Bo" },
          ],
        },
      ],
    },
    {
      title: "R-EMB-18 a junction as an embed distinguishes its several keys",
      request:
        "GET /docks?select=name,shifts(main:cranes!shifts_main_fkey(name),backup:cranes!shifts_backup_fkey(name))&id=eq.1",
      answer: [{ name: "east", shifts: [{ main: { name: "big" }, backup: { name: "small" } }] }],
    },
    {
      title: "R-EMB-18 a junction as an embed reaches rows of the same table",
      request: "GET /buoys?select=name,buoy_links!from_id(...buoys!to_id(name))&id=eq.1",
      answer: [{ name: "red", buoy_links: names("green") }],
    },
    {
      title: "R-EMB-9 an embed accepts names of 63 bytes",
      request:
        "GET /long_names_of_things_that_fill_the_identifier_limit_to_the_end_?select=id,column_name_that_is_as_long_as_postgres_allows_it_to_be_at_all_",
      answer: [{ id: 1, column_name_that_is_as_long_as_postgres_allows_it_to_be_at_all_: "long" }],
    },
    {
      title: "R-EMB-9 an embed accepts names that need quotes",
      request: 'GET /مو?select=اسم,"Deck Plans"("a.b","the \\"best\\" one")',
      answer: [{ اسم: "نجم", "Deck Plans": { "a.b": "dotted", 'the "best" one': "quoted" } }],
    },
  ]);

  test("R-EMB-14 embedded rows obey their own row policies", async () => {
    await api.sql("create table sea.cabin_keys (id int primary key, cabin_id int references sea.cabins)");
    await api.sql("insert into sea.cabin_keys values (1, 1), (2, 2)");
    await api.sql("grant select on sea.cabin_keys to sea_anon");
    await api.reload();
    const answer = await api.get("/cabin_keys?select=id,cabins(label)&order=id", {
      headers: bearer({ role: "sea_anon", sub: "ada" }),
    });
    expect(answer.json()).toEqual([
      { id: 1, cabins: { label: "A1" } },
      { id: 2, cabins: null },
    ]);
  });
});

describe("null filters", () => {
  cases(api, [
    {
      title: "R-EMB-15 a null filter finds parents without related rows",
      request: "GET /ports?select=name,vessels()&vessels=is.null",
      answer: names("Leith"),
    },
    {
      title: "R-EMB-15 a negated null filter finds parents with related rows",
      request: "GET /vessels?select=name,ports()&ports=not.is.null&order=id",
      answer: names("Ariel", "Fram"),
    },
    {
      title: "R-EMB-15 a null filter tests the filtered rows of the embed",
      request: "GET /ports?select=name,vessels()&vessels=is.null&vessels.tonnage=lt.100&order=id",
      answer: names("Oslo", "Leith"),
    },
    {
      title: "R-EMB-15 an embed with a null filter may be selected",
      request: "GET /vessels?select=name,ports(name)&ports=is.null",
      answer: [{ name: "Gjoa", ports: null }],
    },
    {
      title: "R-EMB-15 a null filter applies to a nested embed",
      request:
        "GET /ports?select=name,voyages!origin_id(id,vessels(name))&voyages.vessels=not.is.null&voyages.vessels.name=eq.Fram&id=eq.1",
      answer: [{ name: "Oslo", voyages: [{ id: 3, vessels: { name: "Fram" } }] }],
    },
    {
      title: "R-EMB-15 a null filter may be in a logic tree",
      request: "GET /vessels?select=name,ports()&or=(ports.is.null,tonnage.gt.800)&order=id",
      answer: names("Ariel", "Gjoa"),
    },
    {
      title: "R-EMB-15 a logic tree may have several null filters",
      request: "GET /vessels?select=name,crew(),voyages()&not.or=(crew.not.is.null,voyages.not.is.null)",
      answer: names("Gjoa"),
    },
    {
      title: "R-EMB-15 a null filter names an embed by its alias",
      request: "GET /ports?select=name,ships:vessels()&ships=is.null",
      answer: names("Leith"),
    },
    {
      title: "R-EMB-15 a null filter applies to a spread",
      request: "GET /vessels?select=name,...ports(country)&ports=not.is.null&order=id",
      answer: [
        { name: "Ariel", country: "NO" },
        { name: "Fram", country: "NO" },
      ],
    },
    {
      title: "R-EMB-15 R-EMB-15a a row of all nulls counts as present",
      request: "GET /moorings?select=id,berths(label)&berths=not.is.null&order=id",
      answer: [
        { id: 1, berths: { label: "north" } },
        { id: 2, berths: { label: "south" } },
      ],
    },
    {
      title: "R-EMB-15 a null filter applies to a computed relationship",
      request: "GET /ports?select=name,heavy_vessels()&heavy_vessels=is.null",
      answer: names("Leith"),
    },
    {
      title: "R-EMB-15 a null filter without the embed names a column",
      request: "GET /vessels?select=name&ports=not.is.null",
      status: 400,
      ...code("42703"),
    },
    {
      title: "R-EMB-15 another operator than a null test names a column",
      request: "GET /vessels?select=name,ports()&ports=eq.1",
      status: 400,
      ...code("42703"),
    },
    {
      title: "R-EMB-15 R-EMB-15a is.not_null is not a null filter",
      request: "GET /repairs?select=id,status()&status=is.not_null&order=id",
      answer: ids(1, 2),
    },
    {
      title: "R-EMB-15 a null filter may be combined with filters on the columns of the embed",
      request: "GET /repairs?select=id,status(label)&status=not.is.null&status.label=eq.done",
      answer: [{ id: 1, status: { label: "done" } }],
    },
  ]);

  test("R-EMB-15 presence is that of the row, not of its columns", async () => {
    await api.sql("insert into sea.ports values (950, 'Nameless', null)");
    await api.sql("insert into sea.vessels (id, name, home_port_id) values (950, 'Ghost', 950)");
    const answer = await api.get("/vessels?select=name,ports(country)&ports=not.is.null&id=eq.950");
    expect(answer.json()).toEqual([{ name: "Ghost", ports: { country: null } }]);
    await api.sql("delete from sea.vessels where id = 950");
    await api.sql("delete from sea.ports where id = 950");
  });
});

describe("suggestions", () => {
  cases(api, [
    {
      title: "R-EMB-19 the details name the hint of the embed",
      request: "GET /vessels?select=wharf!dock(*)",
      status: 400,
      answer: notFound("vessels", "wharf", null, "dock"),
    },
    {
      title: "R-EMB-19 the hint names a similar target",
      request: "GET /vessels?select=port(*)",
      status: 400,
      answer: notFound("vessels", "port", "Perhaps you meant 'ports' instead of 'port'."),
    },
    {
      title: "R-EMB-19 the hint names a similar source if the source has no relationships",
      request: "GET /signals?select=ports(*)",
      status: 400,
      check: (answer) => expect(answer.json()).toEqual(notFound("signals", "ports", answer.json().hint)),
    },
    {
      title: "R-EMB-19 if both relations exist, the error has no hint",
      request: "GET /vessels?select=ports!nowhere(*)",
      status: 400,
      answer: notFound("vessels", "ports", null, "nowhere"),
    },
    {
      title: "R-FUZ-1 an unknown target has no hint if no relation is similar",
      request: "GET /vessels?select=xyzzy(*)",
      status: 400,
      answer: notFound("vessels", "xyzzy"),
    },
    {
      title: "R-FUZ-1 similarity ignores letter case",
      request: "GET /vessels?select=VOYAGE(*)",
      status: 400,
      answer: notFound("vessels", "VOYAGE", "Perhaps you meant 'voyages' instead of 'VOYAGE'."),
    },
    {
      title: "R-FUZ-1 the hint names a table with a similarity of at least 0.75",
      request: "GET /vesels",
      status: 404,
      check: (answer) => expect(answer.json().hint).toBe("Perhaps you meant the table 'sea.vessels'"),
    },
    {
      title: "R-FUZ-1 an unknown table has no hint below the limit of similarity",
      request: "GET /vest",
      status: 404,
      check: (answer) => expect(answer.json().hint).toBe(null),
    },
  ]);
});

describe("the plugin nest-embeds", () => {
  test("R-EMB-1 without the plugin nest-embeds embeds are a syntax error", async () => {
    const reducedApi = await startApi({
      preset: (options) => compose(fullCompat(options), without("nest-embeds")),
    });
    const answer = await reducedApi.get("/vessels?select=ports(name)");
    expect(answer.status).toBe(400);
    expect(answer.json().code).toBe("PGRST100");
  });
});
