/** Writes the text of a JSON document in pieces, because a large schema would block the process for too long. */

/** A JSON object whose members are built while the object is written. A name that occurs twice is written twice, and
 *  readers of JSON use the second member. */
export class DocumentMembers {
  readonly members: Iterable<readonly [name: string, value: unknown] | undefined>;

  /** An item that is undefined marks a point at which other work may run. */
  constructor(members: DocumentMembers["members"]) {
    this.members = members;
  }
}

/** Yields the pieces of the text, which may be empty. Undefined members are left out, as `JSON.stringify` does. */
export const writeText = function* ({ members }: DocumentMembers): Generator<string> {
  let before = "{";
  for (const member of members) {
    if (member === undefined || member[1] === undefined) {
      yield "";
      continue;
    }
    const [name, value] = member;
    const start = `${before}${JSON.stringify(name)}:`;
    before = ",";
    if (value instanceof DocumentMembers) {
      yield start;
      yield* writeText(value);
    } else {
      yield start + JSON.stringify(value);
    }
  }
  yield before === "{" ? "{}" : "}";
};
