/** The pages of help above a single command: everything, a noun with its verbs, the catalogue of browser commands. */
import { version } from '../core/version.ts'
import type { CommandEntry, Manifest } from '../operations/manifest.ts'
import type { WordsEntry } from './words.ts'

/** What the nouns are about; one that is not named here shows its verbs alone. */
const nouns: Record<string, string> = {
  session: 'Browser sessions that stay open between commands',
  shell: 'Containers to run commands and programs in',
  profile: 'Saved cookies and storage, to start sessions from',
  engine: 'The engine in the background that holds the sessions',
}

/** `bax --help`: fits one screen. */
export function rootHelp(entries: readonly WordsEntry[]): string {
  const shown = entries.filter(({ hidden }) => !hidden)
  const verbsOf = new Map<string, string[]>()
  for (const { words } of shown) {
    const [noun, verb] = words.split(' ') as [string, string?]
    if (verb) verbsOf.set(noun, [...new Set([...(verbsOf.get(noun) ?? []), verb])])
  }
  const single = (word: string) => {
    const entry = shown.find(({ words }) => words === word)
    return entry ? [line([entry.words, entry.rest].filter(Boolean).join(' '), short(entry.summary))] : []
  }
  const groups = [...verbsOf].flatMap(([noun, verbs]) => [
    line(noun, nouns[noun] ?? inOrder(verbs).join(', ')),
    ...(nouns[noun] ? [line('', listed(verbs))] : []),
  ])
  const known = new Set(['do', 'serve', 'api', 'openapi', 'doctor', 'setup'])
  const others = shown
    .filter(({ words }) => !words.includes(' ') && !known.has(words))
    .flatMap(({ words }) => single(words))
  return [
    `bax ${version}: a browser for programs`,
    '',
    'Usage: bax <command> [words] [flags]',
    '',
    ...single('do'),
    ...others,
    ...groups,
    ...['serve', 'api', 'openapi', 'doctor', 'setup'].flatMap(single),
    '',
    'Examples:',
    '  bax do navigate-to https://example.com then get-content',
    '  bax session create --use --start-url https://example.com',
    '',
    'bax <command> --help tells more; bax do --help lists the browser commands',
    '',
  ].join('\n')
}

/** The verbs that one needs first come first. */
const order = ['create', 'save', 'status', 'list', 'show', 'use', 'watch', 'close', 'delete', 'stop', 'logs']

/** As many verbs as a line of 80 columns holds. */
function listed(verbs: readonly string[]): string {
  const all = inOrder(verbs)
  let count = all.length
  const text = () => all.slice(0, count).join(', ') + (count < all.length ? ', …' : '')
  while (text().length > 54) count -= 1
  return text()
}

const inOrder = (verbs: readonly string[]): string[] => verbs.toSorted((a, b) => place(a) - place(b))

const place = (verb: string): number => (order.includes(verb) ? order.indexOf(verb) : order.length)

const line = (left: string, right: string, width = 22) => `  ${left.padEnd(width)}  ${right}`

/** The summary, or as much of it as leaves a line of 80 columns whole. */
const short = (summary: string): string => (summary.length <= 54 ? summary : summary.replace(/[:;(].*$/, '').trim())

/** `bax session --help`: the verbs of a noun. */
export function groupHelp(noun: string, entries: readonly WordsEntry[]): string {
  const verbs = entries
    .filter(({ words, hidden }) => !hidden && words.startsWith(`${noun} `))
    .toSorted((a, b) => place(a.words.slice(noun.length + 1)) - place(b.words.slice(noun.length + 1)))
  const left = verbs.map(({ words, rest }) => ['bax', words, rest].filter(Boolean).join(' '))
  const width = Math.max(...left.map((text) => text.length))
  const examples = verbs.flatMap(({ example }) => (example ? [`  ${example}`] : []))
  return [
    ...(nouns[noun] ? [nouns[noun], ''] : []),
    'Commands:',
    ...verbs.map(({ summary }, at) => line(left[at]!, summary, width)),
    ...(examples.length > 0 ? ['', 'Examples:', ...examples.slice(0, 3)] : []),
    '',
    `bax ${noun} <verb> --help tells more`,
    '',
  ].join('\n')
}

/** Families whose name is more than one word. */
const familyTitles: Record<string, string> = { webstorage: 'Web storage' }

const titleOf = (family: string): string => familyTitles[family] ?? `${family[0]!.toUpperCase()}${family.slice(1)}`

/** `bax do --help`: the catalogue by family, and how a batch is written. */
export function catalogueHelp(manifest: Manifest, flags: string): string {
  const families = groupByFamily(manifest.commands)
  const width = Math.max(...manifest.commands.map((entry) => spelled(entry).length))
  return [
    'Run browser commands, one or several joined by `then`; stops at the first that fails',
    '',
    'Usage: bax do [flags] <command> [words] [then <command> [words]]…',
    '       bax do [flags] -          a JSON array of {command, data} on standard input',
    ...[...families].flatMap(([family, members]) => [
      '',
      `${titleOf(family)}:`,
      ...members.map((entry) => line(spelled(entry), entry.summary, width)),
    ]),
    '',
    flags.trimEnd(),
    '',
    'Examples:',
    "  bax do navigate-to https://example.com then click 'a' then get-title",
    '  bax do -s shop screenshot --full-page -o page.png',
    '',
    'bax do <command> --help tells more about one',
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

function groupByFamily(commands: readonly CommandEntry[]): Map<string, CommandEntry[]> {
  const families = new Map<string, CommandEntry[]>()
  for (const command of commands) families.set(command.family, [...(families.get(command.family) ?? []), command])
  return families
}
