/** Anchors as GitHub makes them of headings, for the site (docs/site) and for the test of its links. */
export const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
