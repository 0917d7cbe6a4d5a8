import { createClient } from "@supabase/supabase-js";
import { WebSocket } from "ws";
import { client, equals, has, place } from "../checks.mjs";

globalThis.WebSocket ??= WebSocket; // Node 20 has no WebSocket, which the realtime part of the client requires to start
const { check, report } = client("@supabase/supabase-js", import.meta.url);
const supabase = createClient(place.url, place.editor);
const reader = createClient(place.url, place.reader);

await check("select", async () =>
  has(await supabase.from("films").select("id,title").eq("id", 3), {
    error: null,
    data: [{ id: 3, title: "Rashomon" }],
  }),
);
await check("embed", async () =>
  has(await supabase.from("films").select("title, directors(name)").eq("id", 5).single(), {
    data: { directors: { name: "Jane Campion" } },
  }),
);
await check("page with a count", async () =>
  has(await supabase.from("films").select("id", { count: "exact" }).order("id").range(0, 1), {
    count: 6,
    data: [{ id: 1 }, { id: 2 }],
  }),
);
await check("insert, select", async () =>
  has(await supabase.from("directors").insert({ name: "Jean Vigo" }).select().single(), {
    status: 201,
    data: { name: "Jean Vigo" },
  }),
);
await check("upsert", async () =>
  has(await supabase.from("directors").upsert({ id: 3, name: "Jane Campion", born: 1955 }).select("born"), {
    data: [{ born: 1955 }],
  }),
);
await check("update", async () =>
  has(await supabase.from("directors").update({ born: 1954 }).eq("id", 3).select("born"), { data: [{ born: 1954 }] }),
);
await check("delete", async () =>
  has(await supabase.from("directors").delete().eq("name", "Jean Vigo"), { status: 204, error: null }),
);
await check("rpc", async () => has(await supabase.rpc("search_films", { words: "vagabond" }), { data: [{ id: 2 }] }));
await check("rpc by GET", async () => has(await supabase.rpc("count_films", {}, { get: true }), { data: 6 }));
await check("rpc that fails", async () =>
  has(await supabase.rpc("fail", { reason: "no" }), { error: { code: "P0001", message: "no" } }),
);
await check("another schema", async () =>
  has(await supabase.schema("nowhere").from("films").select(), { error: { code: "PGRST106" } }),
);
await check("a reader's rights", async () =>
  has(await reader.from("directors").delete().eq("id", 1), { error: { code: "42501" } }),
);
await check("an unknown table, with the near one", async () =>
  has(await supabase.from("film").select(), { error: { code: "PGRST205", hint: /public\.films/ } }),
);
await check("an access token of the application", async () => {
  const tokenClient = createClient(place.url, place.reader, { accessToken: async () => place.editor });
  equals((await tokenClient.from("directors").update({ born: 1911 }).eq("id", 2).select("born")).data, [
    { born: 1911 },
  ]);
});
report();
