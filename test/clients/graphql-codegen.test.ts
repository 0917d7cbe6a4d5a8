/**
 * Types generated from the running service, compiled in strict mode, and the generated documents sent by two clients.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { asShopper, secretHeader, serveDemo } from "./demo.ts";
import { startProject } from "./project.ts";

const demo = await serveDemo();
const project = await startProject();
const endpoint = { url: demo.graphqlUrl, wsUrl: demo.wsUrl, headers: secretHeader as Record<string, string> };

/** The compiled `shop/stories.ts.txt`, whose types are checked there. */
let shop: any;

beforeAll(async () => {
  await project.generate(demo.graphqlUrl);
  await project.compile();
  shop = await import(/* @vite-ignore */ pathToFileURL(join(project.folder, "out/stories.js")).href);
});

const readGenerated = (name: string): Promise<string> => readFile(join(project.folder, name), "utf8");

describe("graphql-codegen", () => {
  test("G-INT-3 the client preset writes typed documents with masked fragments", async () => {
    const text = await readGenerated("gql/graphql.ts");
    expect(text).toMatch(/export type AlbumsQueryVariables = Exact<\{\s*where\?: InputMaybe<Album_Bool_Exp>/);
    expect(text).toContain("export const AlbumsDocument = ");
    expect(text).toMatch(/'AlbumPartsFragment': AlbumPartsFragment/);
    expect(text).toMatch(
      /export enum Album_Constraint \{\s*\/\*\* unique or primary key constraint on columns "album_id" \*\/\s*AlbumPkey = 'album_pkey'\s*\}/,
    );
  });

  test("G-GEN-8 G-GEN-9 nullability of columns, relationships and inputs reaches the types", async () => {
    const text = await readGenerated("gql/graphql.ts");
    const extractType = (name: string): string =>
      new RegExp(`export type ${name} = \\{([^]*?)\\n\\};`).exec(text)?.[1] ?? "";
    expect(extractType("Employee")).toMatch(/\n {2}birth_date\?: Maybe<Scalars\['date'\]\['output'\]>;/);
    expect(extractType("Employee")).toMatch(/\n {2}address: Scalars\['jsonb'\]\['output'\];/);
    expect(extractType("Employee")).toMatch(/\n {2}employee\?: Maybe<Employee>;/);
    expect(extractType("Employee")).toMatch(/\n {2}employees: Array<Employee>;/);
    expect(extractType("Track")).toMatch(/\n {2}album: Album;/);
    expect(extractType("Track_File")).toMatch(/\n {2}format: Scalars\['media_format'\]\['output'\];/);
    expect(extractType("Track_Insert_Input")).toMatch(/\n {2}genre\?: InputMaybe<Genre_Obj_Rel_Insert_Input>;/);
    expect(extractType("Track_Updates")).toMatch(/\n {2}where: Track_Bool_Exp;/);
    expect(extractType("Album_On_Conflict")).toMatch(/\n {2}update_columns\?: Array<Album_Update_Column>;/);
    expect(extractType("Ltree_Comparison_Exp")).toMatch(
      /\n {2}_matches_any\?: InputMaybe<Array<Scalars\['String'\]\['input'\]>>;/,
    );
  });

  test("G-PRM-6 the types generated for a role lack the objects that it may not use", async () => {
    const names = async (file: string): Promise<string[]> =>
      [...(await readGenerated(file)).matchAll(/^export (?:type|enum) (\w+)/gm)].map(([, name]) => name!);
    const [all, visitor] = await Promise.all([names("reports.types.ts"), names("visitor.types.ts")]);
    expect(all).toEqual(expect.arrayContaining(["Mutation_Root", "Invoice", "Invoice_Bool_Exp", "Album_Bool_Exp"]));
    expect(visitor).toEqual(expect.arrayContaining(["Query_Root", "Subscription_Root", "Album_Bool_Exp"]));
    expect(visitor.filter((name) => /^(Mutation_Root$|Invoice|Customer|\w+_(Set|Insert)_Input)/.test(name))).toEqual(
      [],
    );
  });
});

describe.each([
  ["graphql-request", "byGraphqlRequest", 900],
  ["@apollo/client", "byApollo", 901],
])("%s", (name, maker, freeKey) => {
  const storiesAs = (headers: Record<string, string> = endpoint.headers): any =>
    shop.stories(shop[maker]({ ...endpoint, headers }));

  test("G-BEXP-1 G-ORD-1 G-DOC-12 a list takes variables of input types, with fragments in fragments", async () => {
    const rock = {
      title: "Let There Be Rock",
      by: "artist AC/DC",
      tracks: 8,
      price: "7.92",
      last: "Whole Lotta Rosie",
      first: "Go Down, AC/DC, 5:31, music.rock, mpeg_audio 10847611",
    };
    const salute = {
      title: "For Those About To Rock We Salute You",
      by: "artist AC/DC",
      tracks: 10,
      price: "9.90",
      last: "Spellbound",
      first:
        "For Those About To Rock (We Salute You), Angus Young & Malcolm Young & Brian Johnson, 5:43, music.rock, mpeg_audio 11170334",
    };
    expect(await storiesAs().listAlbums("AC/DC", true)).toEqual({
      types: ["album"],
      albums: [rock, salute],
      albumCount: 2,
      artistCount: 1,
    });
    const artist = await storiesAs().listAlbums("AC/DC", false);
    expect(artist.albums.map((album: any) => album.first)).toEqual([undefined, undefined]);
  });

  test("G-PAG-1 G-VAR-7 a window of rows works, and variables may be left out", async () => {
    expect(await storiesAs().window(3, 10)).toEqual([11, 12, 13]);
  });

  test("G-ROOT-3 G-ROOT-6 one row is read by its key, or null", async () => {
    expect(await storiesAs().album(4)).toEqual({
      title: "Let There Be Rock",
      hasTracks: false,
      siblings: ["For Those About To Rock We Salute You"],
    });
    expect(await storiesAs().album(-4)).toBe(null);
  });

  test("G-AGP-1 G-ORD-6 G-CF-2 a predicate over related rows, an order by an aggregate, and a computed relationship work", async () => {
    expect(await storiesAs().busiestArtists(10)).toEqual([
      "Iron Maiden 21 For the Greater Good of God",
      "Led Zeppelin 14 Walter's Walk",
      "Deep Purple 11 Smoke On The Water",
      "Metallica 10 Whiskey In The Jar",
      "U2 10 Peace On Earth",
    ]);
  });

  test("G-OP-10 G-OP-14 G-COE-12 jsonb operators and paths work", async () => {
    expect(await storiesAs().employeesIn("Lethbridge")).toEqual([
      ["Robert King", "1970-05-29", "Lethbridge", "T1K 5N8", "Michael Mitchell"],
      ["Laura Callahan", "1968-01-09", "Lethbridge", "T1H 1Y8", "Michael Mitchell"],
    ]);
  });

  test("G-FN-3 a function with arguments and its aggregate work", async () => {
    expect(await storiesAs().search("love -hate")).toEqual({
      names: ["Love In An Elevator", "Let Me Love You Baby", "My Love"],
      count: 99,
    });
  });

  test("G-OP-19 G-OP-20 G-OP-21 ltree operators and defaults of variables work", async () => {
    expect(await storiesAs().genres()).toEqual({
      genres: [
        ["Metal", "music.rock.metal", 1, 374, 370.26],
        ["Heavy Metal", "music.rock.metal.heavy_metal", 0, 28, 27.72],
      ],
      shaped: ["Alternative", "Metal", "Rock And Roll"],
      above: ["Science Fiction", "Sci Fi & Fantasy"],
    });
  });

  test("G-TYP-24 G-OP-35 columns of an enumerated type and of bigint have their types", async () => {
    expect(await storiesAs().files()).toEqual({
      aggregate: {
        count: 1,
        files: 2,
        max: { bytes: 1059546140, format: "protected_mpeg4_video" },
        sum: { bytes: 2113970086 },
      },
      nodes: ["protected_mpeg4_video", "protected_mpeg4_video"],
    });
  });

  test("G-NST-1 G-INS-4 G-UPS-1 nested inserts work four tables deep, beside an upsert", async () => {
    const genre = `Choir by ${name}`;
    const track = {
      name: "Second",
      milliseconds: 2000,
      unit_price: "0.10",
      composers: ["a", "b"],
      genre: { data: { name: genre, path: `music.choir_${freeKey}` } },
      track_file: { data: { format: "purchased_aac_audio", bytes: 9007199254740991 } },
    };
    const answer = await storiesAs().addArtists([
      { name: "Choir", albums: { data: [{ title: "B", tracks: { data: [track] } }, { title: "A" }] } },
      { artist_id: 26, name: "Azymuth" },
    ]);
    expect(answer).toEqual({
      affected_rows: 7,
      returning: [
        {
          artist_id: expect.any(Number),
          name: "Choir",
          albums: [
            { title: "A", tracks: [] },
            {
              title: "B",
              tracks: [
                {
                  name: "Second",
                  composers: ["a", "b"],
                  unit_price: 0.1,
                  genre: { path: `music.choir_${freeKey}` },
                  track_file: { format: "purchased_aac_audio", bytes: 9007199254740991 },
                },
              ],
            },
          ],
        },
        { artist_id: 26, name: "Azymuth", albums: [] },
      ],
    });
  });

  test("G-UPS-2 G-DEL-1 G-TX-2 a conflict is skipped or updates, then deletes run in one mutation", async () => {
    const id = await storiesAs().addOne("Nobody", freeKey);
    expect(await storiesAs().putArtist(id, "Somebody")).toBe(null);
    expect(await storiesAs().putArtist(id, "Somebody", ["name"])).toBe("Somebody");
    expect(await storiesAs().dropArtist(id)).toEqual([0, 1, ["Nobody I"], "Somebody"]);
  });

  test("G-UPD-8 update_many runs in order, each update seeing those before it", async () => {
    expect(await storiesAs().reprice()).toEqual([[2, 1.25, 1.25], [1, 1.75], [0], [2, 0.99, 0.99], [1, 0.99]]);
  });

  test("G-UPD-1c G-UPD-1e parts of a document are changed, and a column is set to null", async () => {
    const address = { city: "Banff", state: "AB", street: "1111 6 Ave SW", postal_code: "T2P 5M5" };
    expect(await storiesAs().moveEmployee(3, "Banff")).toEqual({
      phone: null,
      moved: { ...address, floor: 3 },
      trimmed: address,
    });
  });

  test("G-AUTH-3 G-FN-2 a function that writes runs for the customer of the session", async () => {
    const shopper = storiesAs(asShopper(2));
    expect(await shopper.purchase([1, 1, 2])).toEqual({
      total: 2.97,
      customer: "Leonie Köhler",
      lines: [
        ["For Those About To Rock (We Salute You)", 2],
        ["Balls to the Wall", 1],
      ],
    });
    const stranger = storiesAs();
    expect(await stranger.catchError(() => stranger.purchase([1]))).toEqual({
      message: "a purchase needs a customer",
      code: "permission-error",
      path: "$",
    });
  });

  test("G-HTTP-4 G-ERR-1 rejections arrive as the client's own error", async () => {
    const stories = storiesAs();
    expect(await stories.catchError(() => stories.window(-1, 0))).toEqual({
      message: "expected a non-negative 32-bit integer for type 'Int', but found a number",
      code: "validation-failed",
      path: "$.selectionSet.album.args.limit",
    });
    const visitor = storiesAs({});
    expect(await visitor.catchError(() => visitor.purchase([1]))).toEqual({
      message: "no mutations exist",
      code: "validation-failed",
      path: "$",
    });
  });
});

test("G-SUB-3 @apollo/client gets changes over graphql-transport-ws", async () => {
  expect(await shop.watchPlaylists(endpoint, ["First list", "Second list"])).toEqual({
    lists: [[], ["First list 0"], ["First list 0", "Second list 0"]],
    counts: [0, 1, 2],
  });
});
