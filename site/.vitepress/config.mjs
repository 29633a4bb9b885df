import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { defineConfig } from 'vitepress';

const site = fileURLToPath(new URL('..', import.meta.url));
const repository = path.join(site, '..');
// GitHub's workflows say whose repository this is; the path of the site follows from it.
const slug = process.env.GITHUB_REPOSITORY ?? 'toolx/toolx';
const source = `https://github.com/${slug}`;

// sidebar returns the sections of docs/README.md with links to its pages. A row of a command has its title in the second
// cell; elsewhere a link's text is the title. Start has the pages that no other section has.
function sidebar() {
  const index = readFileSync(path.join(repository, 'docs/README.md'), 'utf8');
  const sections = new Map(index.split(/^## /m).slice(1).map((text) => [text.split('\n')[0], links(text)]));
  const others = ['Guides', 'Reference', 'Project'].map((text) => ({ text, items: sections.get(text) }));
  const elsewhere = others.flatMap(({ items }) => items.map(({ link }) => link));
  const start = sections.get('Start here').filter(({ link }) => !elsewhere.includes(link));
  return [
    { text: 'Start', items: [{ text: 'Introduction', link: '/readme' }, { text: 'Explain an error', link: '/' }, ...start] },
    ...others.map((group) => ({ ...group, collapsed: group.text !== 'Guides' })),
  ];
}

// links returns the links of an index to other pages of docs, with their titles capitalized.
function links(text) {
  return [...text.matchAll(/\[([^\]]+)\]\(([a-z][^)#]*)\.md\)(?: \| ([A-Z][^|\n]*) \|$)?/gm)].map(([, name, page, title = name]) => ({
    text: title[0].toUpperCase() + title.slice(1),
    link: '/' + page.replace(/README$/, ''),
  }));
}

// A link from a page to a file of the repository that is no page leads to the repository.
function repositoryLinks(md) {
  md.core.ruler.push('repository-links', (state) => {
    const from = path.dirname(state.env.relativePath ? realPage(state.env.relativePath) : 'docs/x.md');
    for (const token of state.tokens.flatMap((block) => block.children ?? [])) {
      const at = token.type === 'link_open' ? 'href' : token.type === 'image' ? 'src' : '';
      const target = at && token.attrGet(at);
      if (!target || /^([a-z]+:|#|\/)/.test(target)) continue;
      const [file, fragment] = target.split('#');
      const to = path.posix.join(from, file);
      if (at === 'href' && !isPage(to)) token.attrSet('href', `${source}/blob/main/${to}`);
      if (at === 'href' && isPage(to)) token.attrSet('href', pageAddress(to) + (fragment ? `#${fragment}` : ''));
    }
  });
}

// slugify gives headings the fragments that they have on code hosts, which the pages' links name.
const slugify = (heading) => heading.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');

const pages = { 'README.md': 'readme.md', 'CHANGELOG.md': 'changelog.md', 'site/index.md': 'index.md' };
// The pages of the doctor's checks lie beside their code.
const families = 'pkg/doctor/checks';
for (const family of readdirSync(path.join(repository, families))) {
  for (const file of readdirSync(path.join(repository, families, family)).filter((file) => file.endsWith('.md'))) {
    pages[`${families}/${family}/${file}`] = `checks/${file}`;
  }
}
const isPage = (file) => file in pages || (file.startsWith('docs/') && file.endsWith('.md'));

// pageAddress is where a page of the repository is on the site.
function pageAddress(file) {
  const page = pages[file] ?? file.replace(/^docs\//, '').replace(/^README\.md$/, 'contents.md');
  return '/' + page.replace(/(^|\/)README\.md$/, '$1').replace(/\.md$/, '').replace(/^index$/, '');
}

function realPage(address) {
  return Object.keys(pages).find((file) => pages[file] === address) ??
    'docs/' + address.replace(/^contents\.md$/, 'README.md').replace(/(^|\/)index\.md$/, '$1README.md');
}

// Pages are those of docs, and what else pages names; everything else in the repository is left out.
const excluded = readdirSync(repository, { withFileTypes: true })
  .filter((entry) => !['docs', 'pkg', 'site'].includes(entry.name) && !(entry.name in pages))
  .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name))
  .concat('site/!(index.md)', 'site/*/**', 'pkg/!(doctor)/**', 'pkg/doctor/!(checks)/**');

// searched returns the text of a page for the search: of everything but the changelog, which has all words.
const searched = (source, env, md) => {
  const html = md.render(source, env); // which sets env
  return env.relativePath === 'CHANGELOG.md' ? '' : html;
};

// checkFacts shows on the page of a check what its front matter says.
function checkFacts(md) {
  const render = md.render;
  md.render = (source, env) => {
    const front = /^---\n(.*?)\n---\n/s.exec(source);
    const value = (name) => new RegExp(`^${name}: "?(.*?)"?$`, 'm').exec(front?.[1])?.[1];
    if (!value('severity')) return render.call(md, source, env);
    const title = `\n# ${value('title')}\n\n\`${value('id')}\` · ${value('severity')}\n`;
    const origin = value('source') ? `\n\n## Source\n\n${value('source')}\n` : '';
    return render.call(md, front[0] + title + source.slice(front[0].length) + origin, env);
  };
}

export default defineConfig({
  title: 'toolx',
  description: 'Call and debug the tools of MCP servers from a terminal',
  base: process.env.SITE_BASE || '/',
  srcDir: '..',
  srcExclude: excluded,
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  cleanUrls: true,
  lastUpdated: false,
  head: [
    // What is pasted leaves the browser by no mistake.
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: "connect-src 'self'; form-action 'none'" }],
    ['link', { rel: 'icon', href: 'data:,' }], // none, so that no browser asks for one
  ],
  rewrites: (id) => pageAddress(id).slice(1).replace(/(^|\/)$/, '$1index') + '.md',
  markdown: { html: false, config: (md) => [repositoryLinks, checkFacts].forEach((use) => use(md)), anchor: { slugify } },
  themeConfig: {
    nav: [
      { text: 'Explain an error', link: '/' },
      { text: 'Documentation', link: '/contents' },
      { text: 'Checks', link: '/checks/' },
    ],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local', options: { _render: searched } },
    socialLinks: [{ icon: 'github', link: source }],
  },
  vite: {
    publicDir: path.join(site, 'public'),
    // Pages are outside of this folder, and their code imports these.
    resolve: { alias: { 'vue/server-renderer': module('vue/server-renderer/index.mjs'), vue: module('vue/dist/vue.runtime.esm-bundler.js') } },
  },
});

function module(name) {
  return path.join(site, 'node_modules', name);
}
