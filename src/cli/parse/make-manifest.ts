/** Makes the manifest of the command line from the declarations of operations, browser commands and terminal commands. */
import { examplesOf } from '../../core/operation/examples.ts'
import { splitSyntax } from './command-table.ts'
import { allCommands } from './command-modules.ts'
import type { CliManifest } from './table-entry.ts'

export async function makeCliManifest(): Promise<CliManifest> {
  const { makeManifest } = await import('../../operations/manifest.ts')
  const manifest = makeManifest()
  const examplesNamed = new Map(
    manifest.operations.map(({ cli, examples }) => [splitSyntax(cli ?? '').words, examples]),
  )
  const commands = (await allCommands()).toSorted((one, other) => one.cli.localeCompare(other.cli, 'en'))
  const terminal = commands.map(({ cli, summary, example, place }) => {
    const { words, rest } = splitSyntax(cli)
    const examples = example === undefined ? (examplesNamed.get(words) ?? []) : examplesOf(example)
    return { words, rest, summary, examples, ...(examples.length === 0 && { hidden: true }), ...(place && { place }) }
  })
  return { ...manifest, terminal }
}
