import { expect, test } from "vitest";
import { RelApiError } from "../../core/index.ts";
import { errorWords } from "../../plugins/graphql/errors.ts";

const words = (code: string) => errorWords(new RelApiError({ code, status: 500, message: "the driver's words" }));

test("G-DBE-13 connection lost or refused", () => {
  for (const code of ["connection-failed", "connection-lost"])
    expect(words(code)).toMatchObject({ code: "postgres-error", message: "connection error", status: 500 });
});

test("G-DBE-14 too many connections, or none free in time", () => {
  for (const code of ["53300", "pool-timeout"])
    expect(words(code)).toMatchObject({
      code: "postgres-max-connections-error",
      message: "max connections reached on postgres",
      status: 503,
    });
});
