/** Parses the description that a launcher (`src/launcher`) sends of its process, and decides where its command runs. */
import { existsSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { readSettings, sameProxies } from '../cli/settings.ts'
import { findCommand } from '../cli/parse/command-table.ts'
import type { TableEntry } from '../cli/parse/table-entry.ts'
import { readEngineState } from '../core/state/local-files.ts'
import { version } from '../core/version.ts'
import type { Manifest } from '../operations/manifest.ts'

export interface Hello {
  readonly build: string
  /** Folder of the launcher: `dist`. */
  readonly folder: string
  readonly cwd: string
  /** Whether the working folder or one above it has a settings file. */
  readonly hasProjectFile: boolean
  /** Device and inode of the root folder, of the mounts that the process sees, and of the working folder. */
  readonly root: string
  readonly mounts: string
  readonly place: string
  readonly umask: number
  readonly isInputTerminal: boolean
  /** Size of the terminal at standard output and error; absent if it is none. */
  readonly windows: readonly (Window | undefined)[]
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface Window {
  readonly columns: number
  readonly rows: number
}

/** Parses the payload of a hello: texts that end with a zero byte each. @throws Error if it is incomplete */
export function parseHello(payload: Buffer): Hello {
  const texts = payload.toString('utf8').split('\0')
  const [build, folder, cwd, project, root, mounts, place, umask, input, out, error, count, ...rest] = texts as [
    ...[string, string, string, string, string, string, string, string, string, string, string, string],
    ...string[],
  ]
  const words = Number(count)
  if (!Number.isInteger(words) || rest.length < words + 1) throw new Error('incomplete hello')
  const entries = rest.slice(words, -1).map((entry) => {
    const at = entry.indexOf('=')
    return [entry.slice(0, at), entry.slice(at + 1)] as const
  })
  return {
    build,
    folder,
    cwd,
    hasProjectFile: project !== '',
    root,
    mounts,
    place,
    umask: Number.parseInt(umask, 8),
    isInputTerminal: input !== '',
    windows: [parseWindow(out), parseWindow(error)],
    argv: rest.slice(0, words),
    env: Object.fromEntries(entries.filter(([name]) => name !== '')),
  }
}

/** Parses `120x40`; undefined for the empty text of an output that is no terminal. */
export function parseWindow(text: string): Window | undefined {
  const [columns, rows] = text.split('x').map(Number)
  return text === '' ? undefined : { columns: columns!, rows: rows! }
}

/** Build and environment of a process of the engine. */
export interface Surroundings {
  readonly build: string
  readonly folder: string
  /** Environment that the process was started with. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly manifest: Manifest
  readonly entries: readonly TableEntry[]
}

/** The warm process that a launcher reached, and its engine. */
export interface WarmProcess extends Surroundings {
  readonly stateDir: string
  readonly enginePid: number
  readonly browser: string | undefined
}

/** Variables that Node and its libraries read only when a process starts, and proxies, which an engine keeps. */
const readAtStart =
  /^(?:HOME$|NODE_|LANG$|LANGUAGE$|LC_|SSL_CERT_|OPENSSL_|LD_|UV_|TZDIR$|BAX_NO_PROXY$|(?:HTTPS?|ALL|NO)_PROXY$|(?:https?|all|no)_proxy$)/

/** Returns why a command cannot run in a warm process; undefined if it can. */
export function whyNode(hello: Hello, warm: WarmProcess): string | undefined {
  const { argv, env } = hello
  const reason = whyElsewhere(hello, warm)
  if (reason !== undefined) return reason
  // Otherwise the command may start or end an engine, and with it this process.
  const engine = readEngineState(warm.stateDir)
  if (engine?.pid !== warm.enginePid || engine.version !== version || !existsSync(engine.socket))
    return 'the engine is about to end'
  if (identityOf(hello.cwd) !== hello.place) return otherFiles
  if ([...argv, env['BAX_CONFIG'] ?? ''].some((text) => namesOwnFile(text, hello.cwd)))
    return 'an argument names a file of the calling process'
  const settings = readSettings({}, { env, cwd: hello.cwd })
  if (settings.server !== undefined) return 'a server is configured'
  if (settings.stateDir !== warm.stateDir) return 'another state folder is configured'
  if (settings.browser !== warm.browser) return 'another browser is configured'
  if (!sameProxies(settings, engine)) return 'the engine was started with other proxies'
  return undefined
}

const otherFiles = 'the engine sees another file system'

/** Returns why a command can run neither in a warm process nor in the engine, as far as no files are read for that. */
export function whyElsewhere(hello: Hello, warm: Surroundings): string | undefined {
  const { argv, env } = hello
  if (hello.build !== warm.build || hello.folder !== warm.folder) return 'the engine runs another build'
  const places = [
    ['/', hello.root],
    ['/proc/self/ns/mnt', hello.mounts],
  ] as const
  if (places.some(([path, identity]) => identityOf(path) !== identity)) return otherFiles
  const names = new Set([...Object.keys(env), ...Object.keys(warm.env)].filter((name) => readAtStart.test(name)))
  for (const name of names) if (env[name] !== warm.env[name]) return `the engine was started with another ${name}`
  const end = argv.indexOf('--')
  const flags = end === -1 ? argv : argv.slice(0, end)
  const flag = flags.find((text) => /^--(?:embedded|server|state-dir|browser|no-proxy)(?:=|$)/.test(text))
  if (flag) return `${flag} selects an engine`
  const entry = commandIn(argv, warm)
  if (entry?.place === 'own process') return `"${entry.words}" runs in a process of its own`
  return undefined
}

/** Returns the command; undefined if the line has none, which any process can report. */
export function commandIn(argv: readonly string[], { entries, manifest }: Surroundings): TableEntry | undefined {
  try {
    return findCommand(entries, manifest, argv[0] === 'help' ? argv.slice(1) : argv).entry
  } catch {
    return undefined
  }
}

/** Checks if an argument names a file below `/dev` or `/proc`, also after `=` or `@`, and through links. */
function namesOwnFile(text: string, cwd: string): boolean {
  let path = resolve(cwd, text.replace(/^(?:--?[\w-]+=)?@?/, ''))
  for (let links = 0; links < mostLinks; links += 1) {
    path = join(realFolder(dirname(path)), basename(path))
    if (/^\/(?:dev|proc)\//.test(path)) return true
    const target = targetOf(path)
    if (target === undefined) return false
    path = resolve(dirname(path), target)
  }
  return true
}

/** Maximum number of links that Linux follows in a path. */
const mostLinks = 40

function realFolder(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

/** Returns the target of a link; undefined for other paths. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

function identityOf(path: string): string | undefined {
  const info = statSync(path, { bigint: true, throwIfNoEntry: false })
  return info && `${info.dev}:${info.ino}`
}
