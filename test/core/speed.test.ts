/** A preset without the plugins of `plugins/speed`. */
import { expect, test } from "vitest";
import {
  compose,
  definePlugin,
  relApi,
  transactionEndedSignal,
  without,
  type EndedTransaction,
} from "../../core/index.ts";
import * as speed from "../../plugins/speed/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { startApi } from "../support/api.ts";
import { hasSpeed } from "../support/families.ts";

test("X-SPD-1 without the plugins of speed no statement is proven, and the response is the same", async () => {
  const ran: EndedTransaction[] = [];
  const watching = definePlugin({
    name: "watching",
    apply: (_hooks, context) => context.use(transactionEndedSignal).listen((transaction) => ran.push(transaction)),
  });
  const areProven = (): boolean =>
    ran.every(({ execution }) => execution.programs.every(({ program }) => program.isProven));
  const names = Object.values(speed).map(({ name }) => name);
  const fastApi = await startApi({ parts: [watching] });
  const answer = await fastApi.get("/vessels?select=name,ports(name)&order=id");
  expect(ran).toHaveLength(1);
  expect(areProven()).toBe(hasSpeed);
  ran.length = 0;
  const slowApi = await startApi({ parts: [...(hasSpeed ? names.map(without) : []), watching] });
  expect((await slowApi.get("/vessels?select=name,ports(name)&order=id")).bytes).toEqual(answer.bytes);
  expect(ran).toHaveLength(1);
  expect(areProven()).toBe(false);
});

test("X-SPD-1 coalesced-reads requires plan-proof", () => {
  const databaseUrl = "postgres://nobody@127.0.0.1:1/none";
  expect(() => relApi(compose(fullCompat({ databaseUrl }), without("plan-proof")))).toThrow(
    'plugin "coalesced-reads" requires "plan-proof", which part 2 of the preset removed',
  );
});
