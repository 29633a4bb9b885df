import { createContentLoader } from 'vitepress';

// The titles of the doctor's checks, by their ids.
export default createContentLoader('pkg/doctor/checks/*/*.md', {
  transform: (pages) =>
    Object.fromEntries(pages.map(({ frontmatter }) => [frontmatter.id, frontmatter.title]).filter(([id]) => id)),
});
