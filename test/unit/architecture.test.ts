import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Floor {
  /** Floors it may import. */
  readonly below: readonly string[]
  /** Floors it may load with `await import()`. */
  readonly lazily?: readonly string[]
  /** Packages it may import statically. */
  readonly packages: readonly string[]
  /** Packages it may load only when they are needed. */
  readonly lazyPackages?: readonly string[]
}

/** Who may import whom; the house's one rule. */
const floors: Record<string, Floor> = {
  core: { below: [], packages: ['zod', 'fastest-levenshtein'] },
  commands: { below: ['core'], packages: ['zod'] },
  operations: { below: ['core', 'commands'], packages: ['zod'] },
  engine: {
    below: ['core', 'commands', 'operations'],
    packages: [
      'ajv',
      'htmlparser2',
      'domhandler',
      'ipaddr.js',
      'mime',
      'p-queue',
      'picomatch',
      'proxy-chain',
      're2js',
      'robots-parser',
      'tar-stream',
      'ws',
      'zod',
    ],
    // Docker's client; of content that few pages have: PDF, CSV, zstd; undeclared charsets; the list of advertisers.
    lazyPackages: [
      'dockerode',
      'playwright',
      'playwright-core',
      'encoding-sniffer',
      'fzstd',
      'papaparse',
      'third-party-web',
      'unpdf',
    ],
  },
  server: {
    below: ['core', 'operations'],
    lazily: ['engine'],
    packages: ['hono', '@hono/node-server', 'ws', 'zod'],
    // Logs and metrics, of `bax serve` alone.
    lazyPackages: ['pino', 'prom-client'],
  },
  client: { below: ['core', 'operations'], lazily: ['server', 'engine'], packages: ['eventsource-parser'] },
  cli: {
    below: ['core', 'client'],
    lazily: ['operations', 'server', 'engine', 'tui', 'cli/run'],
    packages: ['commander', 'env-paths'],
    lazyPackages: ['chalk', 'htmlparser2', 'open', 'ora', 'yaml'],
  },
  // Loaded when `bax run` is called and not before, so that it may use what it needs.
  'cli/run': {
    below: ['core', 'client', 'cli', 'commands', 'operations'],
    packages: ['ajv', 'fflate', 'pixelmatch', 'pngjs', 'tinyglobby', 'yaml', 'zod'],
  },
  // Loaded when `bax tui` is called; full pictures are decoded only for terminals that can show them.
  tui: {
    below: ['core', 'client', 'operations'],
    packages: ['@inkjs/ui', 'chalk', 'ink', 'react', 'string-width'],
    lazyPackages: ['jpeg-js'],
  },
  main: { below: ['cli', 'core'], packages: [] },
}

interface Import {
  readonly file: string
  readonly floor: string
  readonly target: string
  readonly lazy: boolean
}

const floorOf = (path: string) => {
  const below = relative(join(root, 'src'), path)
  return below.startsWith('cli/run/') ? 'cli/run' : below.split('/')[0]!.replace(/\.tsx?$/, '')
}
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
  .map((file) => join(root, 'src', file))

/** Imports of values; types vanish at build time and are free. */
const imports: Import[] = files.flatMap((file) => {
  const text = readFileSync(file, 'utf8')
  const statics = [...text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[\w*{][^'"]*?from\s+)?['"]([^'"]+)['"]/gms)]
  const lazies = [...text.matchAll(/\b(?:import|require)\(\s*['"]([^'"]+)['"]/g)]
  return [
    ...statics.map(([, target]) => ({ file, floor: floorOf(file), target: target!, lazy: false })),
    ...lazies.map(([, target]) => ({ file, floor: floorOf(file), target: target!, lazy: true })),
  ]
})

const isLocal = ({ target }: Import) => target.startsWith('.')
const packageOf = (target: string) =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')

describe('the house', () => {
  test('every source file stands on a known floor', () => {
    expect([...new Set(files.map(floorOf))].filter((floor) => !Object.hasOwn(floors, floor))).toEqual([])
  })

  test('imports go down', () => {
    const upward = imports.filter(isLocal).flatMap(({ file, floor, target, lazy }) => {
      const other = floorOf(resolve(dirname(file), target.replace(/\?.*$/, '')))
      const { below, lazily = [] } = floors[floor]!
      const allowed =
        other === floor || below.includes(other) || (lazy && lazily.includes(other)) || target.endsWith('package.json')
      return allowed ? [] : [`${relative(root, file)} -> ${target}`]
    })
    expect(upward).toEqual([])
  })

  test('each floor uses only its packages, the heavy ones only on demand', () => {
    const strangers = imports
      .filter((item) => !isLocal(item) && !item.target.startsWith('node:'))
      .flatMap(({ file, floor, target, lazy }) => {
        const { packages, lazyPackages = [] } = floors[floor]!
        const name = packageOf(target)
        return packages.includes(name) || (lazy && lazyPackages.includes(name))
          ? []
          : [`${relative(root, file)} -> ${target}`]
      })
    expect(strangers).toEqual([])
  })

  test('files stay small enough to have one subject', () => {
    const lines = (file: string) => readFileSync(file, 'utf8').split('\n').length
    const large = files
      .filter((file) => lines(file) > 300)
      .map((file) => `${relative(root, file)}: ${lines(file)} lines`)
    expect(large).toEqual([])
    const sorted = files.map(lines).toSorted((a, b) => a - b)
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(120)
  })

  test('only main.ts touches the process', () => {
    const offenders = files
      .filter((file) => floorOf(file) !== 'main')
      .filter((file) =>
        /\bprocess\.(exit|stdout|stderr|stdin|env|argv|exitCode)\b|\bconsole\./.test(
          withoutComments(readFileSync(file, 'utf8')),
        ),
      )
    expect(offenders.map((file) => relative(root, file))).toEqual([])
  })
})

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
