import { CallError, definePlugin } from "../../core/index.ts";

/** `GET /search?text=zeppelin`: the artists and the albums that contain the text, as far as the caller may read
 *  them. */
export const searchRoute = definePlugin({
  name: "search-route",
  before: ["rest"],
  apply: (_hooks, context) => {
    context.addSurface({
      name: "search",
      paths: () => ["/search"],
      methods: ["GET"],
      handle: async (exchange) => {
        const text = new URLSearchParams(exchange.query).get("text") ?? "";
        const read = (path: string) => context.call({ method: "GET", path: `/api/${path}`, parent: exchange });
        const pattern = encodeURIComponent(`*${text}*`);
        try {
          const artists = await read(`artist?select=name&order=name&limit=10&name=ilike.${pattern}`);
          const albums = await read(`album?select=title&order=title&limit=10&title=ilike.${pattern}`);
          return {
            status: 200,
            headers: [["Content-Type", "application/json; charset=utf-8"]],
            body: `{"artists":${artists.body},"albums":${albums.body}}`,
          };
        } catch (error) {
          if (!(error instanceof CallError)) throw error;
          return { status: error.status, headers: Object.entries(error.headers), body: error.body };
        }
      },
      encodeError: ({ status, code, message }) => ({
        status,
        headers: [["Content-Type", "application/json; charset=utf-8"]],
        body: JSON.stringify({ code, message }),
      }),
    });
  },
});
