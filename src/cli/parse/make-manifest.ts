/** Makes the manifest of the command line from the declarations of operations, browser commands and terminal commands. */
import { examplesOf } from '../../core/operation/examples.ts'
import { splitSyntax } from './command-table.ts'
import { allCommands } from './command-modules.ts'
import type { CliManifest, TableEntry } from './table-entry.ts'

export async function makeCliManifest(): Promise<CliManifest> {
  const { makeManifest } = await import('../../operations/manifest.ts')
  const manifest = makeManifest()
  const examplesNamed = new Map(
    manifest.operations.map(({ cli, examples }) => [splitSyntax(cli ?? '').words, examples]),
  )
  const terminal = (await allCommands()).map(({ path, command }): TableEntry => {
    const { cli, summary, example, hidden, place } = command
    const { words, rest } = splitSyntax(cli)
    const examples = example === undefined ? (examplesNamed.get(words) ?? []) : examplesOf(example)
    checkFile(path, words)
    if (examples.length === 0 && !hidden) throw new Error(`${path}: add an example, or "hidden: true"`)
    return { words, rest, summary, examples, ...(hidden && { hidden }), ...(place && { place }) }
  })
  return { ...manifest, terminal: terminal.toSorted((one, other) => one.words.localeCompare(other.words, 'en')) }
}

/** Checks that the file of a command has its name, by which the command is loaded. */
function checkFile(path: string, words: string): void {
  const file = `${words.replaceAll(' ', '-')}.ts`
  if (!path.endsWith(`/${file}`)) throw new Error(`${path}: rename it to ${file}, as it has the command "${words}"`)
}
