/** Anchors as GitHub makes them of headings; docs/site/.vitepress/slug.mts is the same for the site. */
export const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
