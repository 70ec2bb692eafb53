/** Help page of the catalogue of browser commands. */
import type { CommandEntry, Manifest } from '../operations/manifest.ts'
import { helpExamples, helpItem, termColumn } from './help-layout.ts'

/** Titles of families that differ from the capitalized name. */
const familyTitles: Record<string, string> = { webstorage: 'Web storage' }

const titleOf = (family: string): string =>
  familyTitles[family] ?? `${family.charAt(0).toUpperCase()}${family.slice(1)}`

interface CataloguePage {
  readonly manifest: Manifest
  /** Text about the flags. */
  readonly flags: string
  readonly examples: readonly string[]
  readonly width: number
}

/** Returns `bax do --help`: the catalogue by family, and the syntax of a batch. */
export function catalogueHelp({ manifest, flags, examples, width }: CataloguePage): string {
  const families = new Set(manifest.commands.map(({ family }) => family))
  const column = termColumn(manifest.commands.map(spelled), width)
  return [
    'Run browser commands joined by `then`',
    '',
    'Usage: bax do [flags] <command> [words] [then <command> [words]]…',
    '       bax do [flags] -          a JSON array of {command, data} on standard input',
    '       bax <command> [words]     the same without `do`',
    ...[...families].flatMap((family) => [
      '',
      `${titleOf(family)}:`,
      ...manifest.commands
        .filter((entry) => entry.family === family)
        .map((entry) => helpItem(spelled(entry), column, entry.summary, width)),
    ]),
    '',
    flags.trimEnd(),
    ...helpExamples(examples),
    '',
    'Run "bax do <command> --help" for details.',
    '',
  ].join('\n')
}

function spelled({ name, params }: CommandEntry): string {
  const required = params.filter((param) => param.required)
  const words = required.map((param, at) => {
    const takesAll = param.type === 'string[]' && at === required.length - 1
    return `<${param.name}${takesAll ? '...' : ''}>`
  })
  return [name, ...words].join(' ').replaceAll('_', '-')
}
