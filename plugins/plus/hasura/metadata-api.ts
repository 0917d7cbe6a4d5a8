/** `POST /v1/metadata {"type": "export_metadata", "args": {}}`: administrators read and change the metadata, which is
 *  kept where it was read from. */
import { definePlugin } from "../../../core/index.ts";
import { metadataSourceService } from "../../metadata/api.ts";
import { createAdminSurface } from "./admin-surface.ts";
import { createEditor } from "./editor.ts";
import { answerRequest } from "./requests.ts";
import { settle } from "./store.ts";

/** @rule P-HAS-1 P-HAS-2 P-HAS-3 P-HAS-4 P-HAS-5 */
export const metadataApi = definePlugin({
  name: "metadata-api",
  // its path is below one of that surface; and what was half written is finished before it is read
  before: ["graphql", "metadata-loader"],
  apply: (hooks, context) => {
    const editor = createEditor(context);
    hooks.introspect.tapPromise("metadata-api", async (model) => {
      const path = context.use(metadataSourceService)?.path;
      if (path !== undefined) await settle(path);
      return model;
    });
    context.addSurface(
      createAdminSurface(context, {
        path: "/v1/metadata",
        kind: "metadata",
        answer: (body, { encode }) => answerRequest(body, editor, encode),
      }),
    );
  },
});
