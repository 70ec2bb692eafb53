/** Entry point of the terminal: finds the command, runs it, and turns failures into messages and exit codes. */
import { BaxError, exits } from '../core/errors/errors.ts'
import { version } from '../core/version.ts'
import { printFailure } from './output/errors.ts'
import { groupHelp, rootHelp } from './output/help.ts'
import { type Io, print } from './io.ts'
import { loadManifest } from './parse/manifest.ts'
import { ownCommands } from './parse/own-commands.ts'
import { commandTable, findCommand } from './parse/command-table.ts'

export { printWriteError } from './output/errors.ts'

/** Runs one command line; returns the exit code and never throws. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await run(argv, io)
  } catch (error) {
    if (error instanceof Error && error.name === 'HelpWanted') {
      io.stdout.write((error as Error & { text: string }).text)
      return 0
    }
    return printFailure(error, io, wantsJson(argv))
  }
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const typed = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv
  const manifest = await loadManifest(io)
  const entries = commandTable(manifest)
  const { entry, group, argv: rest } = findCommand(entries, manifest, typed)
  if (!entry) return showGeneral(group, rest, io, entries)
  const { words, summary, example, operation } = entry
  const invocation = { io, manifest, words, summary, argv: rest, ...(example && { example }) }
  if (operation) {
    const { runOperation } = await import('./run-operation.ts')
    return runOperation(invocation, operation)
  }
  const { command } = await ownCommands[words]!()
  return (await command(invocation)) ?? exits.done
}

/** Prints the version, or the help of bax or of a noun. */
function showGeneral(
  group: string | undefined,
  argv: readonly string[],
  io: Io,
  entries: ReturnType<typeof commandTable>,
): number {
  if (!group && argv.some((flag) => flag === '--version' || flag === '-V')) {
    print(io, version)
    return 0
  }
  const unknown = argv.find((flag) => flag.startsWith('-') && flag !== '--help' && flag !== '-h')
  if (unknown !== undefined) {
    throw new BaxError('invalid_request', `${unknown} needs a command`, { hint: 'run "bax --help" for the commands' })
  }
  io.stdout.write(group ? groupHelp(group, entries) : rootHelp(entries))
  return 0
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json')
}
