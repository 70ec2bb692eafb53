/** Runs every example of the README and the guide unchanged, except for URLs and ports, which are replaced by local ones. */
import { stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { missingPrograms, titled } from '../support/needs.ts'
import { packageFolder } from '../support/packages.ts'
import { freePort } from '../support/ports.ts'
import { Workspace, type Example, type RunResult, readExamples } from '../support/readme.ts'
import { exampleSite, teaShop } from '../support/readme-site.ts'
import { type SearchServer, serveSearch } from '../support/search-server.ts'
import { debian } from '../support/shell.ts'
import type { Site } from '../support/site.ts'

/** Timeout for building bax and starting it for each section on a busy machine. */
const timeoutMs = 240_000

/** Examples that are not run here, by a unique part of their text, with the reason. */
const notRun: Record<string, string> = {
  'npm test': 'it runs all tests, and this one among them; .ci/run begins with it on a clean checkout',
  'npm install --global': 'it needs a registry; the release workflow installs the package',
  'bax update': 'it needs a registry; test/flow/update.test.ts has one',
  'bax uninstall': 'it removes the data of other examples; test/flow/uninstall.test.ts has its own',
  'npm link': 'it changes the Node installation of this machine',
  'call() {': 'test/clients/curl.test.ts runs this and the following examples of curl',
  'call "/stream/sse': 'test/clients/curl.test.ts',
  'shell=$(call': 'test/clients/curl.test.ts',
  'file:///etc/passwd': 'test/clients/curl.test.ts',
  'npx firecrawl-cli':
    'npx takes the newest from a registry; test/clients/firecrawl-cli.test.ts and firecrawl-mcp.test.ts run kept versions',
  'bax serve --allow-private 10.0.0.0/8': 'it serves until ^C; test/flow/serve.test.ts types it',
  'bax demo   ': 'it serves until ^C; test/flow/demo.test.ts serves it',
  'bax worker': 'it needs Redis and runs until ^C; test/flow/fleet types it',
  'bax fleet import': 'it needs Redis; test/flow/fleet/import.test.ts types it',
  'sudo node scripts/image/build.js': 'it makes an image of 700 MB; test/flow/image.test.ts runs the server in it',
  'bax record': 'a person uses the browser; test/flow/record.test.ts drives one',
  'yaml.schemas': 'settings of an editor',
}

const login = 'steps:\n  - navigate_to: ${vars.base}/shop\n  - evaluate: document.cookie = "user=${vars.user}"\n'

/** Files that the examples of a section read. */
const given: Record<string, Record<string, string>> = {
  scraping: {
    'pages.txt': 'https://example.com\nhttps://example.com/docs/\n',
    'product.json': '{"type": "object", "properties": {"title": {"type": "string"}}}',
  },
  extract: {
    'page.html': '<!doctype html><title>Page</title><h1>Page</h1><p>of a file, with as many words as a text has.</p>',
    'product.json': '{"type": "object", "properties": {"title": {"type": "string"}}}',
  },
  logins: { 'cookies.txt': 'theme=dark; lang=de\n' },
  recording: { 'flow.yaml': 'session: {start_url: https://example.com}\nsteps: [get_title]\n' },
  search: { 'paper.json': '{"type": "object", "properties": {"title": {"type": "string"}}}' },
  scripts: {
    'login.yaml': login,
    'tests/shop/title.yaml': 'session: {start_url: https://example.com}\nsteps: [get_title]\n',
  },
  files: { 'photo.png': 'a photo', 'a.pdf': 'one', 'b.pdf': 'two', 'photos/2026/beach.jpg': 'a beach' },
  shell: { 'data.csv': 'name,cents\ntotal,12\n' },
}

/** Commands before the examples of a section, and conditions after them. */
const before: Record<string, string> = {
  search: 'bax session create --requested-name shop --start-url https://example.com/docs/',
  relay: 'bax serve --port 8080 &\ncurl -sS --retry 9 --retry-connrefused http://127.0.0.1:8080/readyz\n',
}
const after: Record<string, string> = {
  search: 'bax session close shop',
  relay: 'until bax relay list --server http://127.0.0.1:8080 | grep rly_; do sleep 0.2; done',
  completion: 'complete -p bax',
}

/** End of the module that the examples in JavaScript of a section are, if it does not end by itself. */
const moduleEnd: Record<string, string> = {
  clients: `
console.log(JSON.stringify({ page: page.markdown, pages: site.data.length, links: links.length, web: web.length }))
events.addEventListener('message', () => process.exit(0))
await other.newPage()
`,
  'cdp-clients': `
console.log(page.url(), tab.url())
await Promise.all([browser.close(), other.disconnect()])
`,
}

/** Parts of the expected output of a section. Others only have to succeed and write their files. */
const expectedOutput: Record<string, (string | RegExp)[]> = {
  'README: Open a page and act on it': [/- heading "Example Domain"/, /\n(?:Example Domain|Docs)\n$/],
  'README: Scrape, crawl and search': ['"summary":', /Docs of a river/],
  'README: Run scripts in CI': [/passed/],
  'README: Use your own browser': [/"userAgent|Mozilla\/5\.0/],
  'README: Watch a session, and take control': [/live\/ses_.*token=ft_/],
  'README: Serve an HTTP API': ['"markdown":"# Example Domain', /\}# Example Domain\n/],
  commands: ['red shoes', 'Docs'],
  http: ['"command":"get_title"', '"openapi":"3.1', '# Example Domain'],
  'cdp-clients': ['about:blank about:blank'],
  tabs: ['tab_1'],
  clipboard: ['some text'],
  files: ['report.pdf'],
  'network-control': ['document'],
  'live-view': [/live\/ses_[\w-]+\?token=ft_/],
  profiles: ['example-login'],
  scripts: [/passed/],
  scraping: ['# Example Domain', '"links":', '"title":"Example Domain"'],
  extract: ['as many words'],
  crawling: ['# Example Domain', '/docs/guide/', '"status":"completed"'],
  search: ['Docs', '"content":'],
  relay: ['rly_'],
  sessions: [/- heading "Example Domain"/, 'shop'],
  shell: ['total,12', 'results/lines.txt'],
  keys: ['"markdown":"# Example Domain', 'active'],
  completion: ['complete -F _bax bax'],
}

const examples = await readExamples()
const isElsewhere = ({ text }: Example) => Object.keys(notRun).some((words) => text.includes(words))
const runnable = examples.filter((example) => ['sh', 'js', 'yaml'].includes(example.language) && !isElsewhere(example))
const isFor = (section: string) => (example: Example) => example.section === section
const sections = [...new Set(runnable.map(({ section }) => section))]
const types = (section: string, words: RegExp) => runnable.filter(isFor(section)).some(({ text }) => words.test(text))
/** Whether a section needs a state folder, and so an engine and keys, of its own. */
const isAlone = (section: string) => types(section, /\bbax (?:serve|key|relay) /)
/** Whether a section needs containers. */
const usesShell = (section: string) => types(section, /\bbax shell (?!image)/)

let built: BuiltBax
let browser: string
let site: Site
let search: SearchServer
let shared: string
let workspace: Workspace | undefined

beforeAll(async () => {
  const located = locateBrowser({ headless: true, stealth: false }, { cacheDir: '/nonexistent' })
  ;[built, site, search, { path: browser }] = await Promise.all([buildBax(), exampleSite(), serveSearch(), located])
  shared = await built.stateDir()
  search.setResults([{ url: `${site.url}/docs/`, title: 'Docs of a river', snippet: 'How deltas grow' }])
}, timeoutMs)
afterEach(async () => {
  await workspace?.close()
  workspace = undefined
})
afterAll(async () => {
  await built.close()
  await Promise.all([site.close(), search.close()])
}, timeoutMs)

async function openWorkspace(section: string): Promise<Workspace> {
  const DOCKER_HOST = process.env['DOCKER_HOST']
  return Workspace.open(built.program, browser, {
    BAX_BROWSER: browser,
    BAX_STATE_DIR: isAlone(section) ? await built.stateDir() : shared,
    SHOP_PASSWORD: 'a word that nobody sees',
    ...search.env('searxng'),
    ...(DOCKER_HOST && { DOCKER_HOST }),
  })
}

/** Returns a function that replaces the URLs of examples; an unknown one fails, since it would leave this machine. */
async function makeReplacer(): Promise<(text: string) => string> {
  const [server, other, debugging] = await Promise.all([freePort(), freePort(), freePort()])
  const table: [string, string][] = [
    ['https://bax.example.com', `http://127.0.0.1:${server}`],
    ['https://example.com', site.url],
    ['https://example.org', site.url],
    ["--allowed-domains 'example.com", `--allowed-domains '${new URL(site.url).host}`],
    ['--allowed-domains example.com', `--allowed-domains ${new URL(site.url).host}`],
    ['http://127.0.0.1:3000', site.url],
    ['127.0.0.1:4100', `127.0.0.1:${server}`],
    ['--port 4100', `--port ${server}`],
    ['127.0.0.1:8080', `127.0.0.1:${other}`],
    ['--port 8080', `--port ${other}`],
    ['127.0.0.1:9222', `127.0.0.1:${debugging}`],
    ['--remote-debugging-port=9222', `--remote-debugging-port=${debugging}`],
  ]
  return (text) => {
    const exchanged = table.reduce((result, [from, to]) => result.replaceAll(from, to), text)
    const typed = exchanged.replaceAll(/#[^\n]*/g, '')
    const foreign = [
      ...typed.matchAll(/https?:\/\/(?!127\.0\.0\.1:\d|bot\.example\b|www\.w3\.org\/2000\/svg)[\w.-]+/g),
    ].map(([address]) => address)
    expect(foreign, 'addresses that the table above does not know').toEqual([])
    return exchanged
  }
}

/** Closes the session "default" of an earlier section. */
const withoutDefault = 'bax session close default 2>/dev/null || true'

/** Runs all examples of a section, one after the other. */
async function type(section: string): Promise<RunResult> {
  const local = await makeReplacer()
  workspace = await openWorkspace(section)
  for (const [name, content] of Object.entries(given[section] ?? {})) await workspace.write(name, local(content))
  const all = runnable.filter(isFor(section))
  const unnamed: string[] = []
  for (const { text } of all.filter(({ language }) => language === 'yaml')) {
    const name = /^# (\S+\.yaml)\n/.exec(text)?.[1] ?? `unnamed-${unnamed.push(text)}.yaml`
    await workspace.write(name, local(text))
  }
  const code = all.filter(({ language }) => language === 'js').map(({ text }) => text)
  if (code.length > 0) await prepareModule(workspace, local(code.join('\n')) + (moduleEnd[section] ?? ''))
  const lines = [
    withoutDefault,
    before[section] ?? '',
    ...(unnamed.length > 0 ? ['bax run --check unnamed-*.yaml'] : []),
    ...all.filter(({ language }) => language === 'sh').map(({ text }) => text),
    ...(code.length > 0
      ? ['curl -sS --retry 9 --retry-connrefused http://127.0.0.1:4100/healthz', 'node example.mjs']
      : []),
    after[section] ?? '',
  ]
  return workspace.run(local(lines.join('\n')))
}

/** Writes the examples in JavaScript as one module, beside the packages that they use. */
async function prepareModule({ folder, write }: Workspace, text: string): Promise<void> {
  const packages = { 'puppeteer-core': '24.43.1', firecrawl: '4.42.0', eventsource: '4.1.1' }
  await write.call(workspace!, 'node_modules/.keep', '')
  for (const [name, version] of Object.entries(packages)) {
    await symlink(fileURLToPath(await packageFolder(name, version)), join(folder, 'node_modules', name))
  }
  await write.call(workspace!, 'example.mjs', text)
}

/** Returns the files that the examples of a section write. */
const written = (section: string): string[] =>
  runnable
    .filter((example) => isFor(section)(example) && example.language === 'sh')
    .flatMap(({ text }) => [...text.matchAll(/(?:^|[^#\n]* )(?:-o|--output|>) ([\w/]+[\w./-]*)/gm)])
    .map(([, name]) => name!)
    .filter((name) => !name.startsWith('/'))

test('runs every example here or in a named test', () => {
  for (const words of Object.keys(notRun)) {
    expect(examples.filter(({ text }) => text.includes(words)).length, words).toBeGreaterThan(0)
  }
  for (const table of [given, before, after, moduleEnd, expectedOutput]) {
    expect(sections).toEqual(expect.arrayContaining(Object.keys(table)))
  }
})

test('has valid JSON in its JSON examples', () => {
  for (const { text } of examples.filter(({ language }) => language === 'json')) JSON.parse(text)
})

const noPrograms = missingPrograms('bash', 'curl')
describe.skipIf(noPrograms)(titled('runs the examples unchanged', noPrograms), () => {
  test.each(sections.filter((section) => !usesShell(section)))('%s', check, timeoutMs)

  // The default image of shell sessions, built by npm run setup.
  test.skipIf(debian.absent !== null).each(sections.filter(usesShell))(titled('%s', debian.absent), check, timeoutMs)
})

async function check(section: string): Promise<void> {
  const { code, out, errors } = await type(section)
  expect(code, `${out}\n${errors}`).toBe(0)
  expect(errors).not.toMatch(/^error:/m)
  for (const words of expectedOutput[section] ?? []) expect(out).toMatch(words)
  for (const name of written(section)) expect((await stat(join(workspace!.folder, name))).size, name).toBeGreaterThan(0)
}

describe('terminal output in the guide equals the real output', () => {
  const shown = (words: string): string => examples.find(({ text }) => text.includes(words))!.text

  test(
    'of a selector error, an observation, a step and the events of the session',
    async () => {
      const shop = await teaShop()
      try {
        const local = (text: string) => text.replaceAll('https://shop.example', shop.url)
        workspace = await openWorkspace('step')
        await workspace.run(`${withoutDefault}\nbax open ${shop.url}/tea`)
        const [click, message] = splitPrompt(local(shown("click '#buyy'")))
        // By default it waits ten seconds for the element.
        expect(await workspace.run(`${click} --timeout-ms 500`)).toMatchObject({ code: 1, errors: message })
        const [observe, page] = splitPrompt(local(shown('$ bax observe')))
        expect((await workspace.run(observe)).out).toBe(page)
        const [step, effects] = splitPrompt(local(shown('$ bax step')))
        expect((await workspace.run(step)).out).toBe(effects)
        const [watch, events] = splitPrompt(shown('$ bax session watch'))
        const lines = [
          `${watch} --replay all > events.txt &`,
          'until grep -q console events.txt; do sleep 0.1; done',
          'bax close',
          'wait',
          'cat events.txt',
        ]
        const { out } = await workspace.run(lines.join('\n'))
        const form = (text: string) => new Set(text.replaceAll(/^[\d:.]{12}/gm, 'time').match(/^time {2}[\w.]+ +/gm))
        expect(form(out)).toEqual(form(events))
      } finally {
        await shop.close()
      }
    },
    timeoutMs,
  )

  test(
    'of an error in a script',
    async () => {
      const text = shown('unknown command "clik"')
      workspace = await openWorkspace('scripts')
      await workspace.write('shop.yaml', `steps:\n${'  - get_title\n'.repeat(10)}  - clik: '#buy'\n`)
      const { code, errors } = await workspace.run('bax run shop.yaml')
      expect({ code, errors }).toEqual({ code: 2, errors: text })
    },
    timeoutMs,
  )
})

/** Splits a prompt line from the output below it. */
function splitPrompt(text: string): [line: string, printed: string] {
  const [, line, printed] = /^\$ (.*)\n([\s\S]*)$/.exec(text)!
  return [line!, printed!]
}
