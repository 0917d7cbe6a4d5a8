/**
 * The callers: without credentials, with tokens of the roles of `sea`, and the administrator as the roles of `public`.
 */
import { asAdmin, type HeaderValues } from "../api.ts";
import { bearer } from "../tokens.ts";

export const SEA_CALLERS: readonly HeaderValues[] = [
  {},
  bearer({ role: "sea_anon", sub: "ada" }),
  bearer({ role: "sea_anon", sub: "bo" }),
  bearer({ role: "sea_clerk" }),
  bearer({ role: "sea_clerk", sub: "bo" }),
  bearer({ role: "sea_auditor" }),
  bearer({ role: "sea_columns" }),
  bearer({ role: "sea_writeonly" }),
  bearer({ role: "sea_captain", sub: "ada" }),
  bearer({ role: "music_reader" }), // this role has no right on the schema, whatever its tables grant
];

export const MUSIC_CALLERS: readonly HeaderValues[] = [
  {},
  asAdmin(),
  asAdmin("music_reader"),
  asAdmin("music_editor"),
  asAdmin("music_writer"),
  asAdmin("music_artist", { "artist-id": "1" }),
  asAdmin("music_artist", { "artist-id": "2" }),
  asAdmin("music_nobody"),
];

export const CALLERS: readonly HeaderValues[] = [...SEA_CALLERS, ...MUSIC_CALLERS];
