import { describe, expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { openSocket, type TestSocket } from "../support/socket.ts";

const api = await startApi(forGraphql());

const subscribe = (socket: TestSocket, id: string, query: string, variables: Record<string, unknown> = {}): void =>
  socket.send({ id, type: "subscribe", payload: { query, variables } });

const initiated = async (payload?: unknown): Promise<TestSocket> => {
  const socket = await openSocket(api);
  await socket.init(payload);
  return socket;
};

const asRole = (role: string, variables: Record<string, string> = {}) => ({ headers: asAdmin(role, variables) });

describe("live queries", () => {
  test("G-SUB-3 the first answer comes at once, also an empty one", async () => {
    const socket = await initiated();
    subscribe(socket, "1", "subscription { album(where: {id: {_eq: 1}}) { id title } }");
    expect(await socket.next()).toEqual({ id: "1", type: "next", payload: { data: { album: [{ id: 1, title: expect.any(String) }] } } });
    subscribe(socket, "2", "subscription { album(where: {id: {_eq: -1}}) { id } }");
    expect(await socket.next()).toEqual({ id: "2", type: "next", payload: { data: { album: [] } } });
    await socket.close();
  });

  test("G-SUB-3 a further answer is sent when the text differs, and never an equal one", async () => {
    const socket = await initiated();
    const [before] = await api.sql("select sold from album where id = 2");
    subscribe(socket, "1", "subscription { album_by_pk(id: 2) { sold } }");
    expect(await socket.next()).toMatchObject({ payload: { data: { album_by_pk: { sold: before!.sold } } } });
    await api.sql("update album set sold = sold where id = 2");
    await api.sql("update album set sold = 77 where id = 1");
    expect(await socket.during(400)).toEqual([]);
    await api.sql("update album set sold = 4242 where id = 2");
    expect(await socket.next()).toMatchObject({ id: "1", payload: { data: { album_by_pk: { sold: 4242 } } } });
    expect(await socket.during(300)).toEqual([]);
    await socket.close();
  });

  test("G-SUB-6 different variables, aliases and roles are answered each for itself", async () => {
    const socket = await initiated();
    const query = "subscription ($id: Int!) { album_by_pk(id: $id) { id } }";
    for (let id = 1; id <= 5; id++) subscribe(socket, `s${id}`, query, { id });
    const answers = new Map<string, unknown>();
    for (let i = 0; i < 5; i++) {
      const message = await socket.next();
      answers.set(message.id, message.payload.data);
    }
    for (let id = 1; id <= 5; id++) expect(answers.get(`s${id}`)).toEqual({ album_by_pk: { id } });
    await socket.close();
  });

  test("G-SUB-5 G-SUB-6 session variables of row policies: subscribers see their own rows", async () => {
    const query = "subscription { diary(order_by: {id: asc}) { id } }";
    const [one, two] = [await initiated(asRole("music_artist", { "artist-id": "1" })), await initiated(asRole("music_artist", { "artist-id": "2" }))];
    subscribe(one, "1", query);
    subscribe(two, "1", query);
    const idsOf = async (artist: number) => (await api.sql("select id from diary where artist_id = $1 order by id", [artist])).map(({ id }) => ({ id }));
    expect((await one.next()).payload.data.diary).toEqual(await idsOf(1));
    expect((await two.next()).payload.data.diary).toEqual(await idsOf(2));
    await one.close();
    await two.close();
  });
});
