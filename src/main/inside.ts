/**
 * Runs short commands of launchers inside the engine: those that need neither files of their caller nor a process of
 * their own. Everything else goes to a command worker.
 */
import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { OwnEngine, Io, RunInside } from '../cli/io.ts'
import { commandTable } from '../cli/parse/command-table.ts'
import { readSettings, sameProxies } from '../cli/settings.ts'
import { limits } from '../core/limits/limits.ts'
import { readEngineState } from '../core/state/local-files.ts'
import type { CliManifest } from '../cli/parse/table-entry.ts'
import { commandIn, type Hello, type Surroundings, whyElsewhere } from './hello.ts'
import { type Connection, serveLauncher } from './launcher-connection.ts'

/** Variables that decide which files are read, and those that Node reads from its own environment. */
const ownVariables = /^(?:XDG_|TZ$|BAX_CONFIG$)/

/** Arguments that name files of the caller, or standard input: `-`, `-o x`, `--output=x`, `@file`, `--data=@file`. */
const namesFile = /^-$|^-[a-z]*o|^--(?:output|path)(?:=|$)|^(?:--[\w-]+=)?@(?!e\d+$)/

/** Returns a function that runs the commands of launchers in the engine that this process is. */
export function insideRunner(main: Connection['run'], { host, env }: Io, engine: OwnEngine): RunInside {
  const folder = import.meta.dirname
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as CliManifest
  const surroundings: Surroundings = {
    build: readFileSync(join(folder, 'build-id'), 'utf8'),
    folder,
    env: { ...env },
    manifest,
    entries: commandTable(manifest),
  }
  const withFiles = commandsWithFiles(manifest)
  const { job: _, faults: __, inside: ___, ...others } = host
  let running = 0
  const connection: Connection = {
    accept: (hello) =>
      running <= limits.engine.commandsInside &&
      !withFiles.test(hello.argv.join(' ')) &&
      isForEngine(hello, surroundings, engine, host.pid)
        ? undefined
        : 'it runs in a command worker',
    run: main,
    host: { ...others, engine },
    refusal: 'N',
  }
  return async (socket) => {
    running += 1
    try {
      await serveLauncher(socket, connection)
    } finally {
      running -= 1
    }
  }
}

/** Returns a pattern of the names of browser commands that read or write files, such as `screenshot`, in any spelling. */
function commandsWithFiles({ commands }: CliManifest): RegExp {
  const names = commands
    .filter(({ localFiles, bytes, stores }) => localFiles ?? bytes ?? stores)
    .flatMap(({ name, also = [] }) => [name, ...also.map(({ words }) => words)])
  return new RegExp(`(?<![a-z])(?:${names.join('|').replaceAll(/[-_\s]/g, '[-_ ]')})(?![a-z])`, 'i')
}

/** Checks if a command needs nothing but the engine. */
function isForEngine(hello: Hello, surroundings: Surroundings, engine: OwnEngine, pid: number): boolean {
  const { argv, env } = hello
  if (hello.hasProjectFile || env['BAX_SERVER'] || !isAbsolute(env['BAX_CONFIG'] || '/')) return false
  if (whyElsewhere(hello, surroundings) !== undefined) return false
  const names = [...Object.keys(env), ...Object.keys(surroundings.env)].filter((name) => ownVariables.test(name))
  if (names.some((name) => env[name] !== surroundings.env[name])) return false
  const entry = commandIn(argv, surroundings)
  if (entry?.place !== 'engine' || argv.some((text) => namesFile.test(text))) return false
  if (!selects(hello, engine)) return false
  // An engine that is about to end hides its socket.
  const state = readEngineState(engine.stateDir)
  return state?.pid === pid && existsSync(state.socket)
}

/** Checks if the settings of a command select the engine. Otherwise the command would replace it, and end itself. */
function selects({ env, cwd }: Hello, engine: OwnEngine): boolean {
  try {
    const settings = readSettings({}, { env, cwd })
    return settings.stateDir === engine.stateDir && settings.browser === engine.browser && sameProxies(settings, engine)
  } catch {
    // The command worker reports invalid settings.
    return false
  }
}
