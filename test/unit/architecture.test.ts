import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { circles, folderImports, mutualFolders } from '../support/circles.ts'
import {
  crowdedFolders,
  filesWithoutLayer,
  forbiddenImports,
  forbiddenPackages,
  importCycles,
  largeFiles,
  type Layers,
  linesOf,
  literalRoutes,
  processUsers,
  readNativeSources,
  readSources,
  retiredIdentifiers,
  unusedPackages,
} from '../support/guards.ts'

/** Which layer may import which layers and packages. */
const layers: Layers = {
  core: { below: [], packages: ['zod', 'fastest-levenshtein'], lazyPackages: ['fflate', 'yaml'] },
  commands: { below: ['core'], packages: ['zod'] },
  operations: { below: ['core', 'commands'], packages: ['zod'], lazyPackages: ['@fastify/busboy'] },
  engine: {
    below: ['core', 'commands', 'operations'],
    packages: [
      '@jitl/quickjs-singlefile-mjs-release-sync',
      'ajv',
      'css-what',
      'diff',
      'entities',
      'htmlparser2',
      'ipaddr.js',
      'micromark',
      'micromark-extension-gfm',
      'mime',
      'numfmt',
      'p-queue',
      'parse5',
      'picomatch',
      'proxy-chain',
      'quickjs-emscripten-core',
      're2js',
      'robots-parser',
      'tar-stream',
      'tldts',
      'web-vitals',
      'ws',
      'yaml',
      'yauzl',
      'zod',
    ],
    // Docker's client; of content that few pages have: PDF, CSV, zstd; other encodings than UTF-8; the list of advertisers;
    // one-time codes.
    lazyPackages: [
      '@exodus/bytes',
      'chardet',
      'dockerode',
      'playwright',
      'encoding-sniffer',
      'fzstd',
      'otpauth',
      'papaparse',
      'socks',
      'third-party-web',
      'unpdf',
    ],
  },
  server: {
    below: ['core', 'operations'],
    lazily: ['engine', 'fleet'],
    packages: ['hono', '@hono/node-server', 'ws', 'zod'],
    // Logs and metrics, of `bax serve` alone.
    lazyPackages: ['pino', 'prom-client'],
  },
  // Redis behind gateways and workers; loaded for `--fleet` and not before.
  fleet: { below: ['core', 'operations', 'engine'], packages: ['bullmq', 'ioredis'] },
  client: { below: ['core', 'operations'], lazily: ['server', 'engine'], packages: [] },
  lines: { below: ['core', 'client'], packages: ['commander'] },
  cli: {
    below: ['core', 'client', 'lines'],
    lazily: ['operations', 'server', 'engine', 'fleet', 'tui', 'cli/run', 'mcp', 'demo', 'library/declarations'],
    packages: ['commander', 'env-paths'],
    lazyPackages: ['chalk', 'htmlparser2', 'jsonc-parser', 'open', 'ora', 'smol-toml', 'yaml'],
  },
  // Loaded by `bax demo`: a site of its own, which knows nothing of bax.
  demo: { below: [], packages: ['hono'] },
  // Loaded when `bax run` is called and not before, so that it may use what it needs.
  'cli/run': {
    below: ['core', 'client', 'lines', 'cli', 'commands', 'operations'],
    packages: ['ajv', 'pixelmatch', 'pngjs', 'tinyglobby', 'yaml', 'zod'],
  },
  // Loaded by `bax mcp`, and by `bax serve` at the first request to `/mcp`.
  mcp: {
    below: ['core', 'commands', 'operations', 'client', 'lines'],
    packages: ['@modelcontextprotocol/server', 'zod'],
  },
  // Loaded when `bax tui` is called; full pictures are decoded only for terminals that can show them.
  tui: {
    below: ['core', 'client', 'operations'],
    packages: ['@inkjs/ui', 'chalk', 'ink', 'react', 'string-width'],
    lazyPackages: ['jpeg-js'],
  },
  library: { below: ['core', 'client', 'lines', 'cli'], packages: [], lazyPackages: ['playwright'] },
  // Runs during the build, and for `bax code --types`.
  'library/declarations': {
    below: ['core', 'commands', 'operations', 'server', 'library'],
    packages: [],
  },
  main: { below: ['cli', 'core', 'library'], packages: [] },
}

/** Which folders of the engine may import which others, also for types. Files of `engine` itself belong to none. */
const engineBelow: Readonly<Record<string, readonly string[]>> = {
  cdp: [],
  code: [],
  egress: [],
  language: ['egress'],
  store: [],
  extract: ['language'],
  shell: ['store'],
  changes: ['extract', 'language'],
  browser: ['cdp', 'egress', 'store'],
  relay: ['browser', 'cdp'],
  render: ['browser', 'cdp', 'egress', 'extract'],
  scrape: ['browser', 'changes', 'egress', 'extract', 'language', 'render', 'store'],
  crawl: ['changes', 'egress', 'extract', 'render', 'scrape'],
  search: ['browser', 'egress', 'extract', 'render', 'scrape'],
  request: ['browser', 'egress', 'render', 'scrape'],
}

/** Files that read the environment: it says where browsers are, and the programs that they start inherit it. */
const environmentReaders = [
  'engine/browser/direct/enabled.ts',
  'engine/browser/install/install.ts',
  'engine/browser/install/locate.ts',
  'engine/browser/pool/launch.ts',
]

const files = readSources()
const nativeFiles = readNativeSources()

/** Returns the names in a cell of CONTRIBUTING.md. */
const namesIn = (cell: string) => (cell === '-' ? [] : cell.split(', '))

describe('the architecture', () => {
  test('every source file belongs to a layer', () => {
    expect(filesWithoutLayer(files, layers)).toEqual([])
  })

  test('CONTRIBUTING.md shows the same layers', () => {
    const page = readFileSync(new URL('../../.github/CONTRIBUTING.md', import.meta.url), 'utf8')
    const rows = page.matchAll(/^\| `([\w/]+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \|$/gm)
    const listed = Array.from(rows, ([, name, below, lazily]) => [
      name,
      { below: namesIn(below!), lazily: namesIn(lazily!) },
    ])
    const own = Object.entries(layers).map(([name, { below, lazily = [] }]) => [name, { below, lazily }])
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(own))
  })

  test('imports go down', () => {
    expect(forbiddenImports(files, layers)).toEqual([])
  })

  test('no file imports itself through others', () => {
    expect(importCycles(files)).toEqual([])
  })

  test('files that import each other, also for types, form circles of at most three', () => {
    expect(circles(files, 3)).toEqual([])
  })

  test('folders of the engine import only those below them', () => {
    const found = [...folderImports(files, 'engine')].map(([folder, others]) => [folder, [...others].toSorted()])
    expect(Object.fromEntries(found)).toEqual(engineBelow)
  })

  test('few folders of the browser import each other', () => {
    expect(mutualFolders(files, 'engine/browser')).toEqual(['create <-> session', 'direct <-> input'])
  })

  test('each layer uses only its packages, the heavy ones only on demand', () => {
    expect(forbiddenPackages(files, layers)).toEqual([])
  })

  test('every allowed package is used', () => {
    expect(unusedPackages(files, layers)).toEqual([])
  })

  test('folders stay small enough to take in', () => {
    // Headers belong to their programs.
    const programs = nativeFiles.filter(({ name }) => name.endsWith('.c'))
    expect(crowdedFolders([...files, ...programs], 19)).toEqual([])
  })

  test('files stay small enough to have one subject', () => {
    expect(largeFiles(files, 300)).toEqual([])
    expect(largeFiles(nativeFiles, 400)).toEqual([])
    const sorted = files.map(linesOf).toSorted((a, b) => a - b)
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(120)
  })

  test('the formatter formats every line', () => {
    const overriding = files.filter(({ text }) => /(?:prettier|oxfmt)-ignore/.test(text))
    expect(overriding.map(({ name }) => name)).toEqual([])
  })

  test('identifiers use the terms of the glossary', () => {
    expect(retiredIdentifiers(files)).toEqual([])
  })

  test('URLs are parsed with parseUrl, because URL.canParse rejects valid ones in Node 20', () => {
    const users = files.filter(({ name, text }) => !name.endsWith('.page.ts') && text.includes('URL.canParse('))
    expect(users.map(({ name }) => name)).toEqual([])
  })

  test('scripts of Redis are declared with luaScript', () => {
    const definers = files.filter(
      ({ name, text }) => name.startsWith('fleet/') && /\b(?:defineCommand|eval|evalsha)\(/.test(text),
    )
    expect(definers.map(({ name }) => name)).toEqual(['fleet/redis/script.ts'])
  })

  test('the MCP server takes nothing from the terminal, not even types', () => {
    expect(files.filter(({ name, text }) => name.startsWith('mcp/') && /['"][./]+cli\//.test(text))).toEqual([])
  })

  test('operations are called by name, so that the compiler checks their input and output', () => {
    expect(literalRoutes(files)).toEqual([])
  })

  test('only main.ts touches the process, but for the environment of browsers', () => {
    expect(processUsers(files).toSorted()).toEqual(environmentReaders)
  })
})

describe('a planted violation is found', () => {
  const planted = (name: string, text: string) => [...files, { name, text }]

  test('a file outside of the layers', () => {
    expect(filesWithoutLayer(planted('helpers/misc.ts', ''), layers)).toEqual(['helpers/misc.ts'])
  })

  test.each([
    ['core/planted.ts', "import { click } from '../commands/pointer.ts'", 'core/planted.ts -> ../commands/pointer.ts'],
    ['engine/planted.ts', "export * from '../server/app.ts'", 'engine/planted.ts -> ../server/app.ts'],
    [
      'operations/a/planted.ts',
      "import {\n  one,\n} from '../../engine/index.ts'",
      'operations/a/planted.ts -> ../../engine/index.ts',
    ],
    ['cli/planted.ts', "import { serve } from '../server/serve.ts'", 'cli/planted.ts -> ../server/serve.ts'],
    ['core/planted.ts', "const app = await import('../server/app.ts')", 'core/planted.ts -> ../server/app.ts'],
  ])('an import that goes up: %s', (name, text, found) => {
    expect(forbiddenImports(planted(name, text), layers)).toEqual([found])
  })

  test.each([
    ['core/planted.ts', "import pino from 'pino'", 'core/planted.ts -> pino'],
    ['engine/planted.ts', "import { chromium } from 'playwright-core'", 'engine/planted.ts -> playwright-core'],
    ['cli/planted.ts', "const { Box } = await import('@inkjs/ui')", 'cli/planted.ts -> @inkjs/ui'],
  ])('a package that the layer may not use: %s', (name, text, found) => {
    expect(forbiddenPackages(planted(name, text), layers)).toEqual([found])
  })

  test('a cycle of imports, but not of types or of imports on demand', () => {
    const cycle = [
      { name: 'core/a.ts', text: "import { b } from './b.ts'" },
      { name: 'core/b.ts', text: "import type { D } from './d.ts'\nexport * from './c/c.ts'" },
      { name: 'core/c/c.ts', text: "import { a } from '../a.ts'" },
      { name: 'core/d.ts', text: "const b = await import('./b.ts')\nexport { a } from './a.ts'" },
    ]
    expect(importCycles(cycle)).toEqual(['core/a.ts -> core/b.ts -> core/c/c.ts'])
  })

  test('a circle of four files, of which one imports a type and one loads the next on demand', () => {
    const circle = [
      { name: 'core/a.ts', text: "import {\n  b,\n} from './b/b.ts'" },
      { name: 'core/b/b.ts', text: "import type { C } from './c.ts'\nimport { e } from '../e.ts'" },
      { name: 'core/b/c.ts', text: "const d = await import('../d.ts')" },
      { name: 'core/d.ts', text: "export * from './a.ts'" },
      { name: 'core/e.ts', text: "import { missing } from './missing.ts'" },
    ]
    expect(circles(circle, 3)).toEqual([['core/a.ts', 'core/b/b.ts', 'core/b/c.ts', 'core/d.ts']])
    expect(circles(circle, 4)).toEqual([])
  })

  test('folders that import each other', () => {
    const two = [
      { name: 'core/a/one.ts', text: "import type { Two } from '../b/two.ts'\nimport '../c/three.ts'" },
      { name: 'core/b/two.ts', text: "import { other } from '../a/other.ts'" },
      { name: 'core/a/other.ts', text: "import { own } from '../own.ts'" },
      { name: 'core/c/three.ts', text: '' },
      { name: 'core/own.ts', text: "import '../core/a/one.ts'" },
    ]
    expect(mutualFolders(two, 'core')).toEqual(['a <-> b'])
  })

  test('a package that is allowed and not used', () => {
    const cli = { ...layers['cli']!, packages: [...layers['cli']!.packages, 'left-pad'] }
    expect(unusedPackages(files, { ...layers, cli })).toEqual(['cli: left-pad'])
  })

  test('a folder with too many files', () => {
    const crowd = Array.from({ length: 20 }, (_, at) => ({ name: `core/crowd/${at}.ts`, text: '' }))
    expect(crowdedFolders([...files, ...crowd], 19)).toEqual(['core/crowd: 20 files'])
  })

  test.each(['const wishes = {}', 'type PageBerth = string', 'class Engine { #tally_of() {} }'])(
    'a retired identifier: %s',
    (text) => {
      expect(retiredIdentifiers([{ name: 'core/planted.ts', text }])).toHaveLength(1)
    },
  )

  test('a file that is too long', () => {
    expect(largeFiles(planted('core/long.ts', '\n'.repeat(300)), 300)).toEqual(['core/long.ts: 301 lines'])
  })

  test.each([
    'process.exit(1)',
    'process.env.HOME',
    "console.log('x')",
    "import { env, platform } from 'node:process'",
    "import own from 'node:process'",
    "import * as own from 'process'",
  ])('a use of the process: %s', (text) => {
    expect(processUsers([{ name: 'engine/planted.ts', text: `// fine\n${text}` }])).toEqual(['engine/planted.ts'])
  })

  test.each([
    ['cli/planted.ts', "ask({ http: 'POST /commands' }, input)", 'cli/planted.ts: POST /commands'],
    ['cli/run/planted.ts', 'const http = `GET /sessions/${id}`', 'cli/run/planted.ts: GET /sessions/${id}'],
    ['mcp/planted.ts', 'const http = "DELETE /keys"', 'mcp/planted.ts: DELETE /keys'],
    ['tui/planted.tsx', "import { call } from '../client/client.ts'", 'tui/planted.tsx -> ../client/client.ts'],
  ])('a call by route: %s', (name, text, found) => {
    expect(literalRoutes(planted(name, `// \`POST /crawl\` is fine\n${text}`))).toEqual([found])
  })

  test('types and comments are free', () => {
    const text =
      "import type { Page } from 'playwright'\n// process.exit\nimport { availableMemory } from 'node:process'"
    const own = [{ name: 'core/planted.ts', text }]
    expect([...forbiddenPackages(own, layers), ...processUsers(own)]).toEqual([])
  })
})
