// What the built site does in a headless Chromium: SITE_BASE=/toolx/ npm run build made it, TOOLX is the binary.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import chromium from '@sparticuz/chromium';
import { chromium as playwright } from 'playwright-core';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const base = '/toolx/';
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.svg': 'image/svg+xml' };

// fileOf returns the file of an address, as hosts of static pages find it.
function fileOf(address) {
  const file = path.join(dist, decodeURI(address.slice(base.length)));
  return [file, file + '.html', path.join(file, 'index.html')].find((one) => existsSync(one) && path.extname(one));
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://site');
  const file = pathname.startsWith(base) && fileOf(pathname);
  response.writeHead(file ? 200 : 404, { 'Content-Type': types[path.extname(file || '')] ?? 'application/octet-stream' });
  response.end(file ? readFileSync(file) : '');
});

let browser;
let origin;

before(async () => {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox'] });
});

after(async () => {
  await browser?.close();
  server.close();
});

// visit opens an address; whatever the page writes as an error, or asks another host for, fails the test.
async function visit(address, options = {}) {
  const page = await browser.newPage(options);
  page.faults = [];
  page.on('console', (line) => line.type() === 'error' && page.faults.push(line.text()));
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(origin)) page.faults.push(request.url());
  });
  await page.goto(origin + base + address);
  await page.waitForFunction(() => document.querySelector('#app').__vue_app__?._container); // keys are heard
  return page;
}

const messages = [
  `Unexpected token 'd', "[dotenv@17."... is not valid JSON`,
  'Unexpected token d in JSON at position 1',
  "invalid character 'I' looking for beginning of value",
  "invalid character '\\x1b' looking for beginning of value",
  "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
  'Unexpected non-whitespace character after JSON at position 4',
  'spawn npx ENOENT',
  'spawn node.exe EINVAL',
  'MCP error -32000: Connection closed',
  'MCP error -32001: Request timed out',
  'SSE error: Non-200 status code (404)',
  'getaddrinfo ENOTFOUND api.example.com',
  'TypeError: fetch failed',
  'self-signed certificate in certificate chain',
  'the input device is not a TTY',
];

test('the first screen explains an error as toolx doctor --explain does', async () => {
  const page = await visit('');
  const field = page.getByLabel(/^The error/);
  for (const message of messages) {
    const printed = execFileSync(process.env.TOOLX, ['doctor', '--explain', message, '--json'], { encoding: 'utf8' });
    const want = JSON.parse(printed);
    await field.fill(message);
    await page.locator('.answer h2', { hasText: want.title }).waitFor();
    assert.equal(await page.locator('.answer dd').first().textContent(), want.stood, message);
    const culprit = want.culprit ? [`${want.culprit.name}, ${want.culprit.confidence}`] : [];
    assert.deepEqual(await page.locator('dt:text-is("Culprit") + dd').allTextContents(), culprit, message);
    assert.deepEqual(await page.locator('.answer .fixes li').allTextContents(), want.fix, message);
    assert.deepEqual(await page.locator('.answer a').allTextContents(), want.checks, message);
  }
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('each example is in the table, and an unknown message leads to the doctor', async () => {
  const page = await visit('');
  for (const button of await page.locator('.examples button').all()) {
    await button.click();
    await page.locator('.answer h2').waitFor();
  }
  await page.getByLabel(/^The error/).fill('all is well');
  await page.getByText('This message is not in the table.').waitFor();
  assert.equal(await page.locator('.answer h2').count(), 0);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('it can be used with the keyboard alone', async () => {
  const page = await visit('');
  await page.getByLabel(/^The error/).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('[aria-live=polite] h2').waitFor();
  await page.locator('.answer a').first().focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Why it matters' }).waitFor();
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('a browser without the table says so', async () => {
  const page = await browser.newPage();
  await page.route('**/decode.wasm', (route) => route.abort());
  await page.goto(origin + base);
  await page.getByText('The table could not be loaded').waitFor();
  await page.close();
});

test('no page can send what is pasted elsewhere', async () => {
  const page = await visit('');
  assert.equal(await page.evaluate(() => fetch('http://127.0.0.1:1/').catch(() => 'refused')), 'refused');
  assert.ok(page.faults.length > 0 && page.faults.every((fault) => fault.includes('Content Security Policy')), page.faults.join('\n'));
  await page.close();
});

test('what is pasted stays text', async () => {
  const page = await visit('');
  const hostile = '<img src=x onerror="document.title=\'owned\'">';
  await page.getByLabel(/^The error/).fill(`Unexpected token '<', "${hostile}"... is not valid JSON`);
  await page.locator('.answer h2').waitFor();
  assert.equal(await page.locator('.answer img').count(), 0);
  assert.notEqual(await page.title(), 'owned');
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('the search finds a page', async () => {
  const page = await visit('contents');
  await page.keyboard.press('Control+k');
  await page.locator('#localsearch-input').fill('stdout-bom');
  await page.locator('.VPLocalSearchBox .result', { hasText: 'byte order mark' }).first().click();
  await page.waitForURL(/checks\/stdout-bom/);
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('the sidebar has four groups of capitalized titles', async () => {
  const page = await visit('contents');
  const groups = await page.locator('.VPSidebarItem.level-0 > .item h2').allTextContents();
  assert.deepEqual(groups, ['Start', 'Guides', 'Reference', 'Project']);
  const titles = await page.locator('.VPSidebarItem.level-1 .text').allTextContents();
  assert.ok(titles.length > 40, `only ${titles.length} titles`);
  assert.deepEqual(titles.filter((title) => !/^\p{Lu}/u.test(title)), []);
  assert.equal(new Set(titles).size, titles.length, 'a title is there twice');
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('long lines of a console wrap', async () => {
  const page = await visit('output', { viewport: { width: 500, height: 700 } });
  for (const block of await page.locator('.language-console pre').all()) {
    assert.ok(await block.evaluate((pre) => pre.scrollWidth <= pre.clientWidth), await block.textContent());
  }
  assert.deepEqual(page.faults, []);
  await page.close();
});

test('it can be read in dark and light, and on a phone', async () => {
  for (const colorScheme of ['dark', 'light']) {
    const page = await visit('', { colorScheme, viewport: { width: 360, height: 700 } });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${colorScheme}: ${wide} pixels too wide`);
    const dark = await page.evaluate(() => document.documentElement.classList.contains('dark'));
    assert.equal(dark, colorScheme === 'dark');
    assert.deepEqual(page.faults, []);
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/phone-${colorScheme}.png` });
    await page.close();
  }
});

test('every link within the site leads to a page, and to a heading that is there', () => {
  const files = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('.html'));
  assert.ok(files.length > 250, `only ${files.length} pages`);
  const ids = new Map();
  const idsOf = (file) => {
    if (!ids.has(file)) ids.set(file, new Set([...readFileSync(file, 'utf8').matchAll(/ id="([^"]*)"/g)].map((m) => m[1])));
    return ids.get(file);
  };
  for (const file of files.filter((one) => one !== '404.html')) {
    const address = new URL(base + file, 'http://site');
    for (const [, href] of readFileSync(path.join(dist, file), 'utf8').matchAll(/<a [^>]*href="([^"]*)"/g)) {
      const target = new URL(href.replaceAll('&amp;', '&'), address);
      if (target.host !== 'site') continue;
      const to = target.pathname.startsWith(base) && fileOf(target.pathname);
      assert.ok(to, `${file} leads to ${href}`);
      const fragment = decodeURIComponent(target.hash.slice(1));
      assert.ok(!fragment || idsOf(to).has(fragment), `${file} leads to ${href}: no such heading`);
    }
  }
});
