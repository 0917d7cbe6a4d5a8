/** Members of a row, as the database has written them. */

/** Behind the string that begins there. */
const endOfString = (json: string, start: number): number => {
  let at = start;
  for (;;) {
    at = json.indexOf('"', at + 1);
    if (at === -1) return json.length;
    let slashes = 0;
    while (json[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
};

/** Behind the value that begins there. */
const endOfValue = (json: string, start: number): number => {
  let depth = 0;
  let at = start;
  while (at < json.length) {
    const sign = json[at];
    if (sign === '"') {
      at = endOfString(json, at);
      continue;
    }
    if (depth === 0 && (sign === "," || sign === "}")) return at;
    if (sign === "{" || sign === "[") depth++;
    else if (sign === "}" || sign === "]") depth--;
    at++;
  }
  return at;
};

/** `{"id":9007199254740993,"name":"a","at":null}`: values as text that filters read, numbers with all their digits. */
export const membersOf = (row: string): ReadonlyMap<string, string | null> => {
  const members = new Map<string, string | null>();
  let at = 1;
  while (row[at] === '"') {
    const name = endOfString(row, at);
    const end = endOfValue(row, name + 1);
    const value = row.slice(name + 1, end);
    const text = value === "null" ? null : value.startsWith('"') ? (JSON.parse(value) as string) : value;
    members.set(JSON.parse(row.slice(at, name)) as string, text);
    at = end + 1;
  }
  return members;
};
