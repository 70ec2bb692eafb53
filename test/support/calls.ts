/** Records what succeeded in the processes of the tests: operations, browser commands and terminal commands. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandTable, findCommand } from '../../src/cli/parse/command-table.ts'
import { makeCliManifest } from '../../src/cli/parse/make-manifest.ts'
import type { CliManifest } from '../../src/cli/parse/table-entry.ts'
import { buildFolder } from './build-once.ts'

/** Kinds of calls of a test run; `file` is a file of tests that was run. */
export type CallKind = 'operation' | 'browser command' | 'terminal command' | 'undeclared error' | 'file'

const written = new Set<string>()

/** Records a call. All processes of a run append to one file. */
export function recordCall(kind: CallKind, name: string): void {
  const line = `${kind}\t${name}\n`
  if (written.has(line)) return
  written.add(line)
  appendFileSync(callsFile(), line)
}

/** Returns the names recorded so far, by all processes of the run. */
export function recordedCalls(kind: CallKind): ReadonlySet<string> {
  if (!existsSync(callsFile())) return new Set()
  const lines = readFileSync(callsFile(), 'utf8').split('\n')
  return new Set(lines.filter((line) => line.startsWith(`${kind}\t`)).map((line) => line.slice(kind.length + 1)))
}

let made: Promise<CliManifest> | undefined

/** Makes the manifest once in a process, which loads all commands. */
const manifestOnce = (): Promise<CliManifest> => (made ??= makeCliManifest())

/** Returns the names of all public terminal commands. */
export async function terminalCommands(): Promise<string[]> {
  const shown = commandTable(await manifestOnce()).filter(({ hidden }) => !hidden)
  return shown.map(({ words }) => words)
}

/** Records the command of a command line that succeeded. */
export async function recordCommandLine(argv: readonly string[]): Promise<void> {
  if (['help', 'version', '--version'].includes(argv[0]!) || argv.includes('--help') || argv.includes('-h')) return
  const manifest = await manifestOnce()
  const { entry } = findCommand(commandTable(manifest), manifest, argv)
  if (!entry) return
  recordCall('terminal command', entry.words)
  // The server ran it, perhaps in another process.
  const operation = manifest.operations.find(({ cli }) => cli?.replace(/ [<[].*/, '') === entry.words)
  if (operation) recordCall('operation', operation.name)
}

/** Records the operations in the log of a server that succeeded. */
export function recordRequests(log: string): void {
  for (const line of log.split('\n')) {
    if (!line.startsWith('{') || !line.includes('"message":"request"')) continue
    const { operation, status } = JSON.parse(line) as { operation: string; status: number }
    if (status < 300 && operation !== 'unknown') recordCall('operation', operation)
  }
}

const callsFile = (): string => join(buildFolder(), 'calls')
