import { expect, test } from "vitest";
import { RelApiError } from "../../core/index.ts";
import { translateError } from "../../plugins/graphql/translate-error.ts";

const words = (code: string) => translateError(new RelApiError({ code, status: 500, message: "the driver's words" }));

test("G-DBE-13 a lost or rejected connection has the dialect's message", () => {
  for (const code of ["connection-failed", "connection-lost"])
    expect(words(code)).toMatchObject({ code: "postgres-error", message: "connection error", status: 500 });
});

test("G-DBE-14 too many connections, and none free in time, have the dialect's message", () => {
  for (const code of ["53300", "pool-timeout"])
    expect(words(code)).toMatchObject({
      code: "postgres-max-connections-error",
      message: "max connections reached on postgres",
      status: 503,
    });
});
