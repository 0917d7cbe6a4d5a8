/** The text of a JSON document, piece by piece. */

/** A JSON object whose members are built while they are written. A repeated name is written twice, and readers use the
 *  second. */
export class DocumentMembers {
  readonly members: Iterable<readonly [name: string, value: unknown] | undefined>;

  /** An `undefined` in place of a member lets other work interrupt the writing. */
  constructor(of: DocumentMembers["members"]) {
    this.members = of;
  }
}

/** Members that are undefined are left out, as JSON does. Pieces may be empty. */
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
