import SwaggerParser from "@apidevtools/swagger-parser";
import { Validator } from "@seriousme/openapi-schema-validator";
import { client as createChecks, equals, has, place } from "../checks.mjs";

const { check, report } = createChecks(
  "@apidevtools/swagger-parser",
  import.meta.url,
  "swagger-parser, openapi-schema-validator",
);
/** Relations that refer to each other are cyclic. */
const hasReference = (part, visited = new WeakSet()) => {
  if (part === null || typeof part !== "object" || visited.has(part)) return false;
  visited.add(part);
  return "$ref" in part || Object.values(part).some((inner) => hasReference(inner, visited));
};

const documents = {
  "2.0": { path: "/api/", accept: "application/openapi+json" },
  3.1: { path: "/api/openapi.json", accept: "application/json" },
};
for (const [version, { path, accept }] of Object.entries(documents))
  for (const [caller, token] of [
    ["anyone", undefined],
    ["an editor", place.editor],
  ]) {
    const headers = { accept, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    const load = async () => (await fetch(place.url + path, { headers })).json();
    await check(`${version} for ${caller}: the parser validates it`, async () => {
      const { paths, swagger, openapi } = await SwaggerParser.validate(await load());
      equals(String(swagger ?? openapi).slice(0, 3), version);
      has(Object.keys(paths).includes("/films"), true);
    });
    await check(`${version} for ${caller}: its schema is that of the specification`, async () => {
      const { valid, errors } = await new Validator().validate(await load());
      equals([valid, errors], [true, undefined]);
    });
    await check(`${version} for ${caller}: all references lead somewhere`, async () =>
      equals(hasReference(await SwaggerParser.dereference(await load())), false),
    );
    await check(`${version} for ${caller}: columns have their types`, async () => {
      const { definitions, components } = await load();
      has((definitions ?? components.schemas).films.properties, { title: { format: "text", type: "string" } });
    });
  }
report();
