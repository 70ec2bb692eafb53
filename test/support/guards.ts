/** Checks of the source tree as functions: tests run them on the real files, and on planted violations. */
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** A file below `src`, named relative to it with forward slashes. */
export interface SourceFile {
  readonly name: string
  readonly text: string
}

interface Layer {
  /** Layers it may import. */
  readonly below: readonly string[]
  /** Layers it may load with `await import()`. */
  readonly lazily?: readonly string[]
  /** Packages it may import statically. */
  readonly packages: readonly string[]
  /** Packages it may load only when they are needed. */
  readonly lazyPackages?: readonly string[]
}

export type Layers = Readonly<Record<string, Layer>>

const root = new URL('../../', import.meta.url)

/** Reads every TypeScript file below `src`. */
export const readSources = (): SourceFile[] => filesBelow(/(?<!\.d)\.tsx?$/)

/** Reads every file of the programs in C. */
export const readNativeSources = (): SourceFile[] => filesBelow(/\.[ch]$/)

function filesBelow(ending: RegExp): SourceFile[] {
  const src = new URL('src/', root)
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => ending.test(name))
    .map((name) => ({ name, text: readFileSync(new URL(name, src), 'utf8') }))
}

const layerOf = (name: string): string =>
  /^(?:cli\/run|library\/declarations)(?=\/)/.exec(name)?.[0] ?? name.split('/')[0]!.replace(/\.tsx?$/, '')

interface Import {
  readonly file: string
  readonly layer: string
  readonly target: string
  readonly lazy: boolean
}

/** Imports of values; types vanish at build time and are free. */
const importsOf = ({ name, text }: SourceFile): Import[] => {
  const found = (pattern: RegExp, lazy: boolean) =>
    [...text.matchAll(pattern)].map(([, target]) => ({ file: name, layer: layerOf(name), target: target!, lazy }))
  return [
    ...found(/^(?:import|export)\s+(?!type\b)(?:[\w*{][^'"]*?from\s+)?['"]([^'"]+)['"]/gms, false),
    ...found(/\b(?:import|require|load)\(\s*['"]([^'"]+)['"]/g, true),
  ]
}

const show = ({ file, target }: Import): string => `${file} -> ${target}`

/** Returns the files that belong to no layer. */
export const filesWithoutLayer = (files: readonly SourceFile[], layers: Layers): string[] =>
  files.filter(({ name }) => !Object.hasOwn(layers, layerOf(name))).map(({ name }) => name)

/** Returns the imports of layers that the importing layer may not use. */
export const forbiddenImports = (files: readonly SourceFile[], layers: Layers): string[] =>
  files
    .flatMap(importsOf)
    .filter(({ target }) => target.startsWith('.') && !target.endsWith('package.json'))
    .filter(({ file, layer, target, lazy }) => {
      const other = layerOf(posix.join(posix.dirname(file), target.replace(/\?.*$/, '')))
      const { below, lazily = [] } = layers[layer]!
      return other !== layer && !below.includes(other) && !(lazy && lazily.includes(other))
    })
    .map(show)

/** Returns the cycles of static imports, each once, from its first file in alphabetical order. */
export function importCycles(files: readonly SourceFile[]): string[] {
  const targets = new Map(files.map((file) => [file.name, staticTargets(file)]))
  const cycles = new Set<string>()
  const done = new Set<string>()
  const path: string[] = []
  const visit = (name: string): void => {
    const at = path.indexOf(name)
    if (at !== -1) {
      const cycle = path.slice(at)
      const first = cycle.indexOf(cycle.toSorted()[0]!)
      cycles.add([...cycle.slice(first), ...cycle.slice(0, first)].join(' -> '))
      return
    }
    if (done.has(name)) return
    path.push(name)
    for (const target of targets.get(name) ?? []) visit(target)
    path.pop()
    done.add(name)
  }
  for (const name of [...targets.keys()].toSorted()) visit(name)
  return [...cycles]
}

const staticTargets = (file: SourceFile): string[] =>
  importsOf(file)
    .filter(({ target, lazy }) => target.startsWith('.') && !lazy)
    .map(({ target }) => posix.join(posix.dirname(file.name), target.replace(/\?.*$/, '')))

/** Returns the imports of packages that the layer may not use, or may only load on demand. */
export const forbiddenPackages = (files: readonly SourceFile[], layers: Layers): string[] =>
  files
    .flatMap(importsOf)
    .filter(({ target }) => !target.startsWith('.') && !target.startsWith('node:'))
    .filter(({ layer, target, lazy }) => {
      const { packages, lazyPackages = [] } = layers[layer]!
      const name = packageOf(target)
      return !packages.includes(name) && !(lazy && lazyPackages.includes(name))
    })
    .map(show)

/** Returns the routes that the clients of the engine write themselves; `client/calls.ts` finds those of operations. */
export const literalRoutes = (files: readonly SourceFile[]): string[] =>
  files
    .filter(({ name }) => ['cli', 'cli/run', 'library', 'mcp', 'tui'].includes(layerOf(name)))
    .flatMap((file) => [
      ...[...withoutComments(file.text).matchAll(/['"`](?:GET|POST|PUT|PATCH|DELETE) \/[^'"`]*/g)].map(
        ([route]) => `${file.name}: ${route.slice(1)}`,
      ),
      ...importsOf(file)
        .filter(({ target }) => target.endsWith('/client/client.ts'))
        .map(show),
    ])

export const linesOf = ({ text }: SourceFile): number => text.split('\n').length

/** Returns the files with more than `most` lines. */
export const largeFiles = (files: readonly SourceFile[], most: number): string[] =>
  files.filter((file) => linesOf(file) > most).map((file) => `${file.name}: ${linesOf(file)} lines`)

/** Returns the folders with more than `most` source files of their own. */
export function crowdedFolders(files: readonly SourceFile[], most: number): string[] {
  const counts = new Map<string, number>()
  for (const { name } of files) counts.set(posix.dirname(name), (counts.get(posix.dirname(name)) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > most).map(([folder, count]) => `${folder}: ${count} files`)
}

/** Returns the packages that a layer may use and does not, as `layer: package`. */
export function unusedPackages(files: readonly SourceFile[], layers: Layers): string[] {
  const used = new Set(files.flatMap(importsOf).map(({ layer, target }) => `${layer}: ${packageOf(target)}`))
  return Object.entries(layers)
    .flatMap(([layer, { packages, lazyPackages = [] }]) =>
      [...packages, ...lazyPackages].map((name) => `${layer}: ${name}`),
    )
    .filter((entry) => !used.has(entry))
}

const packageOf = (target: string): string =>
  target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')

const withoutComments = (text: string): string => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')

const ofProcess = '(?:exit|stdout|stderr|stdin|env|argv|exitCode)'
const usesProcess = new RegExp(`\\bprocess\\.${ofProcess}\\b|\\bconsole\\.`)
const importsProcess = new RegExp(
  `^import\\s+(?:\\*|(?!process\\b)\\w+\\s|\\{[^}]*\\b${ofProcess}\\b)[^'"]*['"](?:node:)?process['"]`,
  'm',
)

/** Returns the files, other than `main.ts`, that use the process's streams, arguments, environment or end. */
export const processUsers = (files: readonly SourceFile[]): string[] =>
  files
    .filter(({ name }) => layerOf(name) !== 'main')
    .filter(({ text }) => usesProcess.test(withoutComments(text)) || importsProcess.test(text))
    .map(({ name }) => name)

/** Returns the packages of `heavy` among the inputs of a bundle, which are paths or names of external packages. */
export const heavyAmong = (inputs: readonly string[], heavy: readonly string[]): string[] =>
  heavy.filter((name) => inputs.some((file) => file.includes(`node_modules/${name}/`) || file === name))

/** Words that the glossary replaces; ordinary words such as `look`, `part` or `have` are not among them. */
const retiredWords = new Set(
  'berth buried bury desk grave graves ground heard house knock obtain obtained tally told wish wishes'.split(' '),
)

/** Returns the identifiers that contain a retired word, as `file: identifier`. */
export const retiredIdentifiers = (files: readonly SourceFile[]): string[] =>
  files.flatMap(({ name, text }) => {
    const code = withoutComments(text).replaceAll(/'[^'\n]*'|"[^"\n]*"|`[^`]*`/g, '')
    const identifiers = new Set(code.match(/[A-Za-z_]\w*/g))
    return [...identifiers]
      .filter((one) => wordsIn(one).some((word) => retiredWords.has(word)))
      .map((one) => `${name}: ${one}`)
  })

const wordsIn = (identifier: string): string[] =>
  identifier.split(/_|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase())
