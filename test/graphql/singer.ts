import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";

/** Permissions of the role `singer` on songs: each command has a condition, and writes have presets. */
export const singerMetadata = buildMetadataDocument([
  table("song", {
    select_permissions: permissions({
      singer: { columns: ["id", "title", "seconds"], filter: { seconds: { _gt: 100 } } },
    }),
    insert_permissions: permissions({
      singer: { check: { seconds: { _lt: 1000 } }, columns: ["id", "title"], set: { seconds: "x-session-seconds" } },
    }),
    update_permissions: permissions({
      singer: {
        columns: ["title"],
        filter: { id: { _lt: 3 } },
        check: { title: { _neq: "forbidden" } },
        set: { seconds: 7 },
      },
    }),
  }),
]);

/** A caller with that role. */
export const singer = { role: "singer", session: { seconds: "42" } };
