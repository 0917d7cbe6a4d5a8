/** The change source of the guide. */
import { test } from "vitest";
import { without } from "../../core/index.ts";
import { forGraphql, startApi } from "../support/api.ts";
import { openSocket } from "../support/socket.ts";
import { reportedChanges } from "./reported-changes.ts";

const HOUR_MS = 3_600_000;
const api = await startApi(
  forGraphql({
    parts: [
      reportedChanges("app_changes", new Set(["public.artist"])),
      without("replication-changes"),
      without("notify-changes"),
    ],
    liveQueryInterval: HOUR_MS,
  }),
);

const next = (name: string) => (message: any) => message.payload?.data?.artist_by_pk?.name === name;

test("G-SUB-4 a live query runs again when its relation is reported", async () => {
  const socket = await openSocket(api);
  await socket.init();
  socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { artist_by_pk(id: 1) { name } }" } });
  await socket.next(next("Abba"));
  await api.sql("update artist set name = 'ABBA' where id = 1; notify app_changes, 'public.artist'");
  await socket.next(next("ABBA"));
  await socket.close();
});

test("G-SUB-4 relations that are not reported are left to the next source", async () => {
  const otherApi = await startApi(
    forGraphql({
      parts: [
        reportedChanges("app_changes", new Set(["public.artist"])),
        without("replication-changes"),
        without("notify-changes"),
      ],
      liveQueryInterval: 20,
    }),
  );
  const socket = await openSocket(otherApi);
  await socket.init();
  socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { album_by_pk(id: 1) { title } }" } });
  await socket.next((message) => message.type === "next");
  await otherApi.sql("update album set title = 'polled' where id = 1");
  await socket.next((message) => message.payload?.data?.album_by_pk?.title === "polled");
  await socket.close();
});
