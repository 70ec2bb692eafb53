/** The terminal's front door: finds the command that was typed, runs it, and turns every failure into words and a code. */
import { BaxError } from '../core/errors/errors.ts'
import { version } from '../core/version.ts'
import { groupHelp, rootHelp } from './output/help.ts'
import { type Io, print } from './io.ts'
import { loadManifest } from './parse/manifest.ts'
import { ownCommands } from './parse/own-commands.ts'
import { allWords, findCommand } from './parse/command-table.ts'

/** Runs one command line; returns the exit code and never throws. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await run(argv, io)
  } catch (error) {
    if (error instanceof Error && error.name === 'HelpWanted') {
      io.stdout.write((error as Error & { text: string }).text)
      return 0
    }
    const { tellFailure } = await import('./output/errors.ts')
    return tellFailure(error, io, wantsJson(argv))
  }
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const asked = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv
  const manifest = await loadManifest(io)
  const entries = allWords(manifest)
  const { entry, group, argv: rest } = findCommand(entries, manifest, asked)
  if (!entry) return above(group, rest, io, entries)
  const { words, summary, example, operation } = entry
  const invocation = { io, manifest, words, summary, argv: rest, ...(example && { example }) }
  if (operation) {
    const { runOperation } = await import('./run-operation.ts')
    return runOperation(invocation, operation)
  }
  const { command } = await ownCommands[words]!()
  return command.run(invocation)
}

/** What is asked of bax itself, or of a noun: its version, its help. */
async function above(
  group: string | undefined,
  argv: readonly string[],
  io: Io,
  entries: ReturnType<typeof allWords>,
): Promise<number> {
  if (!group && argv.some((flag) => flag === '--version' || flag === '-V')) {
    print(io, version)
    return 0
  }
  const unknown = argv.find((flag) => flag.startsWith('-') && flag !== '--help' && flag !== '-h')
  if (unknown !== undefined) {
    throw new BaxError('invalid_request', `${unknown} needs a command`, { hint: 'see `bax --help`' })
  }
  io.stdout.write(group ? groupHelp(group, entries) : rootHelp(entries))
  return 0
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json')
}
