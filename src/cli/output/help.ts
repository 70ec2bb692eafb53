/** Help pages for `bax`, and for a noun with its verbs. */
import { version } from '../../core/version.ts'
import type { TableEntry } from '../parse/table-entry.ts'
import { helpExamples, helpItem, helpItems, helpText } from '../../lines/help-layout.ts'

/** Descriptions of the nouns. */
const nouns: Record<string, string> = {
  session: 'Browser sessions that stay open between commands',
  profile: 'Saved cookies and storage, to start sessions from',
  credential: 'Stored log-ins, which commands use and nobody can read',
  relay: 'Browsers started by people, here or elsewhere',
  shell: 'Containers to run commands and programs in',
  'relay tokens': 'Tokens for connecting browsers to a server',
  'shell image': 'Images for shell sessions',
  'shell artifacts': 'Files that commands wrote to output folders',
  key: 'API keys for bax serve',
  fleet: 'Several machines that share a Redis',
  engine: 'The engine in the background that holds the sessions',
}

/** Lines of `bax --help`: related commands and their description; verbs are appended after a trailing space. */
const lines: readonly (readonly [words: readonly string[], about: string])[] = [
  [['open', 'do', 'step', 'observe'], 'Open a page; click, fill, wait, …; read it'],
  [['session'], 'Browser sessions: '],
  [['profile', 'credential'], 'Saved logins; passwords that stay hidden'],
  [['run', 'record', 'code'], 'Scripts of steps for people and CI; JavaScript'],
  [['read', 'scrape', 'crawl', 'map'], 'Pages and whole sites as Markdown or data'],
  [['search', 'extract', 'request'], 'Search the web; convert HTML files; HTTP like curl'],
  [['relay', 'cdp', 'mcp', 'skill'], 'Your own browser; raw CDP methods; tools for agents'],
  [['shell'], 'Containers: '],
  [['handoff', 'approve', 'tui'], 'Ask a person; approve actions; terminal UI'],
  [['serve', 'worker', 'key', 'fleet'], 'Serve the HTTP API; its keys; several machines'],
  [['engine', 'api', 'openapi'], 'The local engine; any API request; OpenAPI'],
  [['demo', 'doctor', 'completion'], 'A site to try; check this machine; completion'],
  [['setup', 'update', 'uninstall'], 'Install browsers; look for new versions; remove bax'],
]

/** Returns `bax --help`, which fits a screen of 24 lines with 80 columns. */
export function rootHelp(entries: readonly TableEntry[], width: number): string {
  const shown = entries.filter(({ hidden }) => !hidden)
  return [
    `bax ${version}: control browsers from the terminal`,
    '',
    'Usage: bax <command> [words] [flags]',
    '',
    ...lines.map(([words, about]) =>
      helpItem(
        words.join(', '),
        column,
        about.endsWith(' ') ? about + verbsOf(words[0]!, shown, width - column - about.length) : about,
        width,
      ),
    ),
    ...helpExamples(rootExamples),
    '',
    helpText('Details: bax <command> --help. Browser commands: bax do --help. Guide: bax help.', width),
    '',
  ].join('\n')
}

/** Width of the column of commands in `bax --help`. */
const column = 25

const rootExamples = ['bax scrape https://example.com', 'bax open https://example.com && bax click a && bax get-title']

/** Returns the verbs of a noun, as many as fit beside its description. */
function verbsOf(noun: string, entries: readonly TableEntry[], space: number): string {
  const words = entries.map((entry) => entry.words.split(' ')).filter(([first, verb]) => first === noun && verb)
  const verbs = [...new Set(words.map(([, verb]) => verb!))].toSorted((a, b) => place(a) - place(b))
  let count = verbs.length
  const text = () => verbs.slice(0, count).join(', ') + (count < verbs.length ? ', …' : '')
  while (text().length > space - 4 && count > 1) count -= 1
  return text()
}

/** Order of verbs in the help, before all others. */
const order = [
  ...'create connect save status list show exec use watch view close delete stop logs'.split(' '),
  ...'attach read write tree search tabs upload download'.split(' '),
  'artifacts list',
]

const place = (verb: string): number => (order.includes(verb) ? order.indexOf(verb) : order.length)

/** Returns the help of a noun: its verbs. */
export function groupHelp(noun: string, entries: readonly TableEntry[], width: number): string {
  const verbs = entries
    .filter(({ words, hidden }) => !hidden && words.startsWith(`${noun} `))
    .toSorted((a, b) => place(a.words.slice(noun.length + 1)) - place(b.words.slice(noun.length + 1)))
  const items = verbs.map(
    ({ words, rest, summary }) => [['bax', words, rest].filter(Boolean).join(' '), summary] as const,
  )
  const examples = verbs.flatMap(({ examples: [first] }) => first ?? [])
  return [
    nouns[noun],
    '',
    'Commands:',
    ...helpItems(items, width),
    ...helpExamples(examples.slice(0, 3)),
    '',
    `Run "bax ${noun} <verb> --help" for details.`,
    '',
  ].join('\n')
}
