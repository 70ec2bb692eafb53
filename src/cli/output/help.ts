/** Help pages for `bax`, for a noun with its verbs, and for the catalogue of browser commands. */
import { version } from '../../core/version.ts'
import type { CommandEntry, Manifest } from '../../operations/manifest.ts'
import type { TableEntry } from '../parse/command-table.ts'

/** Descriptions of the nouns. */
const nouns: Record<string, string> = {
  session: 'Browser sessions that stay open between commands',
  profile: 'Saved cookies and storage, to start sessions from',
  relay: 'Browsers started by people, here or elsewhere',
  shell: 'Containers to run commands and programs in',
  'relay tokens': 'Tokens for connecting browsers to a server',
  'shell image': 'Images for shell sessions',
  'shell artifacts': 'Files that commands wrote to output folders',
  key: 'API keys for bax serve',
  engine: 'The engine in the background that holds the sessions',
}

/** Lines of `bax --help`: related commands and their description; verbs are appended after a trailing space. */
const lines: readonly (readonly [words: readonly string[], about: string])[] = [
  [['do', 'step', 'observe'], 'Run browser commands, see their effect, read pages'],
  [['session'], 'Browser sessions: '],
  [['profile'], 'Saved logins: '],
  [['run'], 'Scripts of steps, for people and CI'],
  [['scrape', 'crawl', 'map'], 'Pages and whole sites as Markdown or data'],
  [['search', 'extract'], 'Search the web; turn HTML files into Markdown'],
  [['relay', 'cdp'], 'Connect your own browser; call raw CDP methods'],
  [['shell'], 'Containers: '],
  [['tui'], 'Everything in one full-screen terminal UI'],
  [['serve', 'key'], 'Serve the HTTP API; manage its keys'],
  [['engine'], 'The engine in the background: '],
  [['api', 'openapi'], 'Any API request; the OpenAPI document'],
  [['doctor', 'setup', 'completion'], 'Check this machine; install browsers; completion'],
]

/** Returns `bax --help`, which fits a screen of 24 lines. */
export function rootHelp(entries: readonly TableEntry[]): string {
  const shown = entries.filter(({ hidden }) => !hidden)
  const named = new Set(lines.flatMap(([words]) => words))
  const others = shown.filter(({ words }) => !named.has(words.replace(/ .*/, '')))
  return [
    `bax ${version}: a browser for programs`,
    '',
    'Usage: bax <command> [words] [flags]',
    '',
    ...lines.map(([words, about]) => line(words.join(', '), about.endsWith(' ') ? about + verbsOf(words[0]!, shown, about) : about, 25)), // prettier-ignore
    ...others.map(({ words, summary }) => line(words, summary, 25)),
    '',
    'Examples:',
    '  bax scrape https://example.com',
    '  bax do navigate-to https://example.com then click a then get-title',
    '',
    'Run "bax <command> --help" for details, "bax do --help" for browser commands.',
    '',
  ].join('\n')
}

/** Returns the verbs of a noun, as many as fit beside its description in 80 columns. */
function verbsOf(noun: string, entries: readonly TableEntry[], about: string): string {
  const words = entries.map((entry) => entry.words.split(' ')).filter(([first, verb]) => first === noun && verb)
  const verbs = [...new Set(words.map(([, verb]) => verb!))].toSorted((a, b) => place(a) - place(b))
  let count = verbs.length
  const text = () => verbs.slice(0, count).join(', ') + (count < verbs.length ? ', …' : '')
  while (text().length > 51 - about.length) count -= 1
  return text()
}

/** Order of verbs in the help. */
const order = ['create', 'connect', 'save', 'status', 'list', 'show', 'exec', 'use', 'watch', 'view', 'close', 'delete', 'stop', 'logs'] // prettier-ignore

const place = (verb: string): number => (order.includes(verb) ? order.indexOf(verb) : order.length)

const line = (left: string, right: string, width: number) => `  ${left.padEnd(width)}  ${right}`

/** Returns the help of a noun: its verbs. */
export function groupHelp(noun: string, entries: readonly TableEntry[]): string {
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
    `Run "bax ${noun} <verb> --help" for details.`,
    '',
  ].join('\n')
}

/** Titles of families that differ from the capitalized name. */
const familyTitles: Record<string, string> = { webstorage: 'Web storage' }

const titleOf = (family: string): string =>
  familyTitles[family] ?? `${family.charAt(0).toUpperCase()}${family.slice(1)}`

/** Returns `bax do --help`: the catalogue by family, and the syntax of a batch. */
export function catalogueHelp(manifest: Manifest, flags: string): string {
  const families = new Set(manifest.commands.map(({ family }) => family))
  const width = Math.max(...manifest.commands.map((entry) => spelled(entry).length))
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
        .map((entry) => line(spelled(entry), entry.summary, width)),
    ]),
    '',
    flags.trimEnd(),
    '',
    'Examples:',
    "  bax do navigate-to https://example.com then click 'a' then get-title",
    '  bax do -s shop screenshot --full-page -o page.png',
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
