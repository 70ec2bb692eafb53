/** Entry point of the terminal: finds the command, runs it, and turns failures into messages and exit codes. */
import { BaxError, exits } from '../core/errors/errors.ts'
import { version } from '../core/version.ts'
import { markable, MarkedOutput } from './output/boundaries.ts'
import { printFailure } from './output/errors.ts'
import { withVisibleControls } from './output/terminal-text.ts'
import type { CommandNames } from './guide/topics.ts'
import { groupHelp, rootHelp } from './output/help.ts'
import { helpWidth } from '../lines/help-layout.ts'
import { type Io, print } from './io.ts'
import { isHelpWanted } from '../lines/help-wanted.ts'
import { loadManifest } from './parse/manifest.ts'
import { loadCommand } from './parse/command-modules.ts'
import { commandTable, findCommand } from './parse/command-table.ts'

export { printWriteError } from './output/errors.ts'

/** Runs one command line; returns the exit code and never throws. */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await run(argv, io)
  } catch (error) {
    return printFailure(error, io, wantsJson(argv))
  }
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...others] = argv
  const isHelp = first === 'help'
  const typed = isHelp ? [...others, '--help'] : first === 'version' ? ['--version', ...others] : argv
  const manifest = await loadManifest(io)
  const entries = commandTable(manifest)
  const names = { entries, manifest }
  if (isHelp) {
    const { printTopic } = await import('./guide/print-topic.ts')
    if (await printTopic(others, io, names)) return exits.done
  }
  const { entry, group, argv: rest } = findCommand(entries, manifest, typed)
  if (!entry) return showGeneral(group, rest, io, names)
  const { words, summary, examples, operation } = entry
  // The terminal UI draws its screen with control sequences, and shows none of others.
  const stdout = words === 'tui' ? io.stdout : withVisibleControls(io.stdout)
  const marked = markable.has(words) ? new MarkedOutput(stdout) : undefined
  const output = { ...io, stdout: marked?.output ?? stdout }
  const invocation = { io: output, manifest, words, summary, argv: rest, examples, ...(marked && { marked }) }
  try {
    if (operation) return await (await import('./run-operation.ts')).runOperation(invocation, operation)
    const command = await loadCommand(words)
    return (await command.run(invocation)) ?? exits.done
  } catch (error) {
    if (!isHelpWanted(error)) return printFailure(error, io, wantsJson(argv), invocation)
    const { text, command } = error
    return showHelp(text(helpWidth(io.stdout)), command.name().slice('bax '.length), io, names)
  } finally {
    marked?.end()
  }
}

/** Prints the help of a command or a noun, and the page of the guide about it. */
async function showHelp(text: string, command: string, io: Io, names: CommandNames): Promise<number> {
  const { guidePointer } = await import('./guide/topics.ts')
  io.stdout.write(text + guidePointer(command, io, names))
  return exits.done
}

/** Prints the version, or the help of bax or of a noun. */
async function showGeneral(
  group: string | undefined,
  argv: readonly string[],
  io: Io,
  names: CommandNames,
): Promise<number> {
  if (!group && argv.some((flag) => flag === '--version' || flag === '-V' || flag === '-v')) {
    print(io, version)
    return 0
  }
  const unknown = argv.find((flag) => flag.startsWith('-') && flag !== '--help' && flag !== '-h')
  if (unknown !== undefined) {
    throw new BaxError('invalid_request', `${unknown} needs a command`, { hint: 'run "bax --help" for the commands' })
  }
  const width = helpWidth(io.stdout)
  if (group) return showHelp(groupHelp(group, names.entries, width), group, io, names)
  io.stdout.write(rootHelp(names.entries, width))
  return exits.done
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end === -1 ? argv : argv.slice(0, end)).includes('--json')
}
