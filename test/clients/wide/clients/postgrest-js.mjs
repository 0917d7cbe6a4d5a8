import { PostgrestClient } from "@supabase/postgrest-js";
import { client, equals, has, place, rejects } from "../checks.mjs";

const { check, report } = client("@supabase/postgrest-js", import.meta.url);
const anyone = new PostgrestClient(`${place.url}/api`);
const db = new PostgrestClient(`${place.url}/api`, { headers: { Authorization: `Bearer ${place.editor}` } });

/** The data of a response without an error. */
const rows = async (query) => {
  const { data, error } = await query;
  if (error !== null) throw new Error(JSON.stringify(error));
  return data;
};
const ids = async (query) => (await rows(query.order("id"))).map(({ id }) => id);
const films = () => db.from("films").select("id");

await check("select of columns", async () =>
  equals(await rows(anyone.from("films").select("id,title").eq("id", 3)), [{ id: 3, title: "Rashomon" }]),
);
await check("rename and cast", async () =>
  equals(await rows(db.from("films").select("name:title,year::text").eq("id", 3)), [
    { name: "Rashomon", year: "1950" },
  ]),
);
await check("big integers as text", async () =>
  equals(await rows(db.from("films").select("gross::text").eq("id", 1)), [{ gross: "9007199254740993" }]),
);
await check("a JSON path", async () =>
  equals(await rows(db.from("films").select("camera:details->crew->>camera").eq("id", 1)), [{ camera: "Rabier" }]),
);

for (const [name, query, expected] of [
  ["eq", () => films().eq("title", "Rashomon"), [3]],
  ["neq", () => films().neq("status", "released"), [6]],
  ["gt", () => films().gt("year", 1985), [5, 6]],
  ["gte", () => films().gte("year", 1985), [2, 5, 6]],
  ["lt", () => films().lt("rating", 7.7), [5]],
  ["lte", () => films().lte("rating", 7.7), [2, 5]],
  ["like", () => films().like("title", "%Sam%"), [4]],
  ["likeAllOf", () => films().likeAllOf("title", ["%a%", "%o%"]), [2, 3, 5]],
  ["likeAnyOf", () => films().likeAnyOf("title", ["R%", "V%"]), [2, 3]],
  ["ilike", () => films().ilike("title", "the%"), [5]],
  ["ilikeAllOf", () => films().ilikeAllOf("title", ["S%", "%I"]), [4]],
  ["ilikeAnyOf", () => films().ilikeAnyOf("title", ["r%", "v%"]), [2, 3]],
  ["is null", () => films().is("rating", null), [6]],
  ["in", () => films().in("title", ["Rashomon", "The Piano", 'with "quotes", and commas']), [3, 5]],
  ["contains of an array", () => films().contains("tags", ["crime"]), [3]],
  ["contains of JSON", () => films().contains("details", { colour: true }), [2, 5]],
  ["containedBy", () => films().containedBy("tags", ["drama", "paris"]), [1, 2, 6]],
  ["overlaps", () => films().overlaps("tags", ["music", "action"]), [4, 5]],
  ["rangeGt", () => films().rangeGt("shown", "[1960,1970)"), [2, 5]],
  ["rangeGte", () => films().rangeGte("shown", "[1962,1970)"), [1, 2, 5]],
  ["rangeLt", () => films().rangeLt("shown", "[1960,1970)"), [3, 4]],
  ["rangeLte", () => films().rangeLte("shown", "[1950,1960)"), [3, 4]],
  ["rangeAdjacent", () => films().rangeAdjacent("shown", "[1970,1980)"), [1]],
  ["overlaps of ranges", () => films().overlaps("shown", "[1951,1955)"), [3, 4]],
  ["textSearch, plain", () => films().textSearch("title", "samurai", { type: "plain" }), [4]],
  [
    "textSearch, websearch",
    () => films().textSearch("title", "piano or vagabond", { type: "websearch", config: "english" }),
    [2, 5],
  ],
  ["match", () => films().match({ year: 1954, status: "released" }), [4]],
  ["not", () => films().not("director_id", "in", "(1,2)"), [5]],
  ["or", () => films().or("year.lt.1955,and(rating.gt.7.6,year.eq.1985)"), [2, 3, 4]],
  ["filter", () => films().filter("details->>minutes", "eq", "88"), [3]],
  ["regular expressions", () => films().filter("title", "imatch", "^[rv]"), [2, 3]],
])
  await check(name, async () => equals(await ids(query()), expected));

await check("an embed", async () =>
  equals(await rows(db.from("films").select("title,directors(name)").eq("id", 5)), [
    { title: "The Piano", directors: { name: "Jane Campion" } },
  ]),
);
await check("an inner embed with a filter", async () =>
  equals(await ids(db.from("films").select("id,directors!inner(name)").eq("directors.name", "Agnès Varda")), [1, 2]),
);
await check("many to many", async () =>
  equals(
    await rows(db.from("actors").select("name,films(title)").eq("id", 3).order("id", { referencedTable: "films" })),
    [{ name: "Toshiro Mifune", films: [{ title: "Rashomon" }, { title: "Seven Samurai" }] }],
  ),
);
await check("order and limit of an embed", async () =>
  equals(
    await rows(
      db
        .from("directors")
        .select("id,films(id)")
        .eq("id", 2)
        .order("year", { referencedTable: "films", ascending: false })
        .limit(1, { referencedTable: "films" }),
    ),
    [{ id: 2, films: [{ id: 4 }] }],
  ),
);
await check("or of an embed", async () =>
  equals(
    await rows(
      db.from("directors").select("id,films(id)").eq("id", 2).or("year.eq.1950", { referencedTable: "films" }),
    ),
    [{ id: 2, films: [{ id: 3 }] }],
  ),
);
await check("spread", async () =>
  equals(await rows(db.from("films").select("id,...directors(director:name)").eq("id", 3)), [
    { id: 3, director: "Akira Kurosawa" },
  ]),
);
await check("count of an embed", async () =>
  equals(await rows(db.from("directors").select("id,films(count)").eq("id", 1)), [{ id: 1, films: [{ count: 2 }] }]),
);
await check("a computed field", async () =>
  equals(await rows(db.from("films").select("decade").eq("id", 2)), [{ decade: 1980 }]),
);
await check("a view", async () =>
  equals(await rows(db.from("film_list").select("director").eq("id", 2)), [{ director: "Agnès Varda" }]),
);

await check("order, nulls first", async () =>
  equals(
    (await rows(db.from("films").select("id").order("rating", { ascending: false, nullsFirst: true }).limit(2))).map(
      ({ id }) => id,
    ),
    [6, 4],
  ),
);
await check("a range with an exact count", async () =>
  has(await db.from("films").select("id", { count: "exact" }).order("id").range(2, 3), {
    status: 206,
    count: 6,
    data: [{ id: 3 }, { id: 4 }],
  }),
);
for (const count of ["planned", "estimated"])
  await check(`a ${count} count`, async () =>
    has(typeof (await db.from("films").select("id", { count })).count, "number"),
  );
await check("head with a count", async () =>
  has(await db.from("films").select("*", { count: "exact", head: true }), {
    status: 200,
    count: 6,
    data: null,
    error: null,
  }),
);
await check("limit", async () =>
  equals((await rows(db.from("films").select("id").order("id").limit(1)))[0], { id: 1 }),
);
await check("single", async () => equals(await rows(db.from("films").select("id").eq("id", 2).single()), { id: 2 }));
await check("single of several", async () =>
  has(await db.from("films").select("id").single(), { status: 406, error: { code: "PGRST116" } }),
);
await check("maybeSingle of none", async () =>
  has(await db.from("films").select("id").eq("id", 99).maybeSingle(), { data: null, error: null }),
);
await check("CSV", async () =>
  equals(await rows(db.from("directors").select("id,name").eq("id", 2).csv()), 'id,name\n2,"Akira Kurosawa"'),
);
await check("stripped nulls", async () =>
  equals(await rows(db.from("films").select("id,rating").eq("id", 6).stripNulls()), [{ id: 6 }]),
);
await check("an execution plan", async () =>
  has((await db.from("films").select("id").explain({ analyze: true })).data, /Scan/),
);
await check("a request that is given up", async () => {
  const { error } = await db.from("films").select("id").abortSignal(AbortSignal.abort());
  has(error.message, /abort/i);
});

await check("insert", async () =>
  has(await db.from("directors").insert({ name: "Jean Vigo", born: 1905 }), { status: 201, data: null, error: null }),
);
await check("insert and select", async () =>
  equals(await rows(db.from("directors").insert({ id: 50, name: "Ida Lupino" }).select("id,name,born").single()), {
    id: 50,
    name: "Ida Lupino",
    born: null,
  }),
);
await check("insert of several, with a count", async () =>
  has(
    await db
      .from("directors")
      .insert(
        [
          { id: 51, name: "A" },
          { id: 52, name: "B" },
        ],
        { count: "exact" },
      )
      .select("id"),
    { count: 2, data: [{ id: 51 }, { id: 52 }] },
  ),
);
await check("insert with defaults for what is missing", async () =>
  equals(
    await rows(
      db
        .from("films")
        .insert(
          [
            { id: 50, title: "One", year: 2000 },
            { id: 51, title: "Two", year: 2001, status: "planned" },
          ],
          { defaultToNull: false },
        )
        .select("id,status"),
    ),
    [
      { id: 50, status: "released" },
      { id: 51, status: "planned" },
    ],
  ),
);
await check("upsert", async () =>
  equals(await rows(db.from("directors").upsert({ id: 51, name: "Aa" }).select("id,name")), [{ id: 51, name: "Aa" }]),
);
await check("upsert by another key", async () =>
  equals(
    await rows(db.from("directors").upsert({ name: "Aa", born: 1900 }, { onConflict: "name" }).select("id,born")),
    [{ id: 51, born: 1900 }],
  ),
);
await check("upsert that ignores duplicates", async () =>
  equals(
    await rows(
      db
        .from("directors")
        .upsert(
          [
            { name: "Aa", born: 1 },
            { id: 60, name: "New" },
          ],
          { onConflict: "name", ignoreDuplicates: true, defaultToNull: false },
        )
        .select("id"),
    ),
    [{ id: 60 }],
  ),
);
await check("update", async () =>
  equals(await rows(db.from("directors").update({ born: 1901 }).eq("id", 51).select("born")), [{ born: 1901 }]),
);
await check("update with too many rows", async () =>
  has(await db.from("directors").update({ born: 1 }).gt("id", 0).maxAffected(1), {
    status: 400,
    error: { code: "PGRST124" },
  }),
);
await check("delete", async () =>
  has(await db.from("directors").delete({ count: "exact" }).in("id", [51, 52]), { status: 204, count: 2 }),
);
await check("delete and select", async () =>
  equals(await rows(db.from("directors").delete().eq("id", 60).select("name")), [{ name: "New" }]),
);

await check("a function", async () =>
  equals(await rows(db.rpc("search_films", { words: "piano" }).select("title")), [{ title: "The Piano" }]),
);
await check("a function by GET", async () =>
  equals(await rows(db.rpc("search_films", { words: "samurai" }, { get: true }).select("id")), [{ id: 4 }]),
);
await check("a function by HEAD", async () =>
  has(await db.rpc("search_films", { words: "samurai" }, { head: true, count: "exact" }), { count: 1, data: null }),
);
await check("a function of a scalar", async () => equals(await rows(db.rpc("count_films")), 8));
await check("a function that writes", async () =>
  equals(await rows(db.rpc("add_years", { film_id: 6, years: 1 }).select("year").single()), { year: 2031 }),
);

await check("an error of the database", async () =>
  has(await db.rpc("fail", { reason: "no" }), {
    status: 400,
    error: { code: "P0001", message: "no", details: "on purpose", hint: "do not call it" },
  }),
);
await check("an unknown column", async () =>
  has(await db.from("films").select("titel"), { status: 400, error: { code: "42703" } }),
);
await check("an unknown table", async () =>
  has(await db.from("film").select(), { status: 404, error: { code: "PGRST205" } }),
);
await check("an unknown function", async () =>
  has(await db.rpc("cuont_films"), { status: 404, error: { code: "PGRST202" } }),
);
await check("no right to write", async () =>
  has(await anyone.from("films").delete().eq("id", 1), { status: 401, error: { code: "42501" } }),
);
await check("a broken constraint", async () =>
  has(await db.from("directors").insert({ name: "Jane Campion" }), { status: 409, error: { code: "23505" } }),
);
await check("an unknown schema", async () =>
  has(await db.schema("nowhere").from("films").select(), { status: 406, error: { code: "PGRST106" } }),
);
await check("a token that is none", async () =>
  has(
    await new PostgrestClient(`${place.url}/api`, { headers: { Authorization: "Bearer x" } }).from("films").select(),
    { status: 401 },
  ),
);
await check("throwOnError", () => rejects(db.from("film").select().throwOnError(), { code: "PGRST205" }));
report();
