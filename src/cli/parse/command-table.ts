/** Table of all terminal commands: those derived from operations, and custom ones (`own-commands.ts`). */
import { BaxError } from '../../core/errors/errors.ts'
import { didYouMean, suggest } from '../../core/errors/suggest.ts'
import type { Manifest, OperationEntry } from '../../operations/manifest.ts'
import { findEntry } from './batch.ts'
import { kebab } from './values.ts'

export interface TableEntry {
  /** Name of the command: `scrape`, `session create`. */
  readonly words: string
  /** Positional words as the help shows them, such as `<session-id>`. */
  readonly rest: string
  readonly summary: string
  readonly example?: string
  readonly hidden?: boolean
  /**
   * Runs in a process of its own, not in a warm one of the engine: it owns the terminal, runs for long, ends the engine
   * or reports on its own process.
   */
  readonly ownProcess?: boolean
  /** Present if the command is derived from an operation. */
  readonly operation?: OperationEntry
}

const ownProcess = 'own process'

/** Custom commands by their syntax. Commands without an example are hidden. */
const own: Readonly<Record<string, readonly [summary: string, example?: string, place?: typeof ownProcess]>> = {
  'do <command> …': [
    'Run browser commands joined by `then`',
    "bax do navigate-to https://example.com then click 'a' then get-title",
  ],
  'run <script> …': [
    'Run scripts of browser steps',
    'bax run shop/*.yaml --parallel 4 --reporter line,junit=report.xml',
    ownProcess,
  ],
  'scrape <url…>': ['Scrape pages into Markdown, data or screenshots', 'bax scrape https://example.com'],
  'extract [file…]': ['Convert HTML files to Markdown', 'bax extract page.html > page.md', ownProcess],
  'search <query>': [
    'Search the web and scrape the results',
    "bax search 'how river deltas grow' --limit 3 --formats markdown",
  ],
  'crawl <url>': [
    'Crawl a site into Markdown',
    'bax crawl https://example.com/docs/ --limit 200 --max-depth 5 -o docs',
    ownProcess,
  ],
  'map <url>': ['List the URLs of a site', 'bax map https://example.com --search docs'],
  observe: ['Print the content and controls of a page', 'bax observe -s shop --include snapshot,screenshot'],
  'step <command> …': [
    'Run browser commands and print their effect',
    "bax step click 'ref=e12' then type-text '#q' tea",
  ],
  'session watch': [
    'Follow the events of a session',
    'bax session watch -s shop --types page.navigated,console',
    ownProcess,
  ],
  'session create': ['Create a browser session', 'bax session create --start-url https://example.com --use'],
  'session use [id|name]': ['Choose the default session', 'bax session use shop'],
  'session view': ['Open the live view of a session', 'bax session view -s shop --control', ownProcess],
  'relay connect': [
    'Connect a browser to an engine',
    'bax relay connect --cdp http://127.0.0.1:9222 --name laptop',
    ownProcess,
  ],
  'relay tabs <id>': ['List the tabs of a relay browser', 'bax relay tabs laptop'],
  'relay events <id>': [
    'Read, follow or export relay events',
    'bax relay events laptop --follow --kind console,network --level error',
    ownProcess,
  ],
  'cdp <method> [params]': [
    'Call a Chrome DevTools Protocol method',
    `bax cdp -s laptop Page.captureScreenshot '{"format":"png"}' --field data -o page.png`,
  ],
  'shell create': ['Create a shell session in a container', 'bax shell create --language python'],
  'shell exec [--] <command> …': [
    'Run a command in a shell session',
    'bax shell exec -s sh_… -- python3 -c "print(6 * 7)"',
  ],
  'shell attach [command…]': ['Attach this terminal to a shell session', 'bax shell attach -s sh_…', ownProcess],
  'shell read <path>': ['Print a file of a shell session', 'bax shell read -s sh_… report.txt'],
  'shell write <path>': ['Write to a file of a shell session', 'bax shell write -s sh_… main.py < main.py'],
  'shell tree [path]': ['Print a directory as a tree', 'bax shell tree -s sh_… --max-depth 2'],
  'shell search [path]': [
    'Search the files of a shell session',
    "bax shell search -s sh_… --pattern '**/*.py' --query TODO",
  ],
  'shell upload <file> [path]': ['Upload a file to a shell session', 'bax shell upload -s sh_… data.csv'],
  'shell download <path>': ['Download a file of a shell session', 'bax shell download -s sh_… /output/plot.png'],
  'shell artifacts list': ['List the output files of commands', 'bax shell artifacts list -s sh_…'],
  'shell artifacts download <artifact-id> [file-name]': [
    'Download the output files of commands',
    'bax shell artifacts download art_… plot.png',
  ],
  'shell image build': ['Build the image for shell sessions', 'bax shell image build', ownProcess],
  'engine stop': ['Stop the local engine and its sessions', 'bax engine stop', ownProcess],
  'engine logs': ['Print the log of the local engine', 'bax engine logs --lines 50', ownProcess],
  'engine run': ['Run the local engine in the foreground', undefined, ownProcess],
  serve: ['Serve the API over HTTP', 'bax serve --port 4100', ownProcess],
  tui: ['Open the full-screen terminal UI', 'bax tui', ownProcess],
  'api <METHOD> <path>': [
    'Send a request to the API',
    `bax api POST /commands --data '{"commands":[{"command":"get_title"}]}'`,
  ],
  openapi: ['Print the OpenAPI document', 'bax openapi > openapi.json'],
  doctor: ['Check this machine for missing requirements', 'bax doctor --json', ownProcess],
  setup: ['Install the browsers that bax needs', 'bax setup', ownProcess],
  'completion <bash|zsh|fish>': ['Print a shell completion script', 'source <(bax completion bash)'],
  complete: ['Print completion candidates'],
}

/** Returns all commands; a custom one replaces the operation of the same name. */
export function commandTable(manifest: Manifest): TableEntry[] {
  const custom: TableEntry[] = Object.entries(own).map(([cli, [summary, example, place]]) => {
    const { words, rest } = split(cli)
    return {
      words,
      rest,
      summary,
      ...(example === undefined ? { hidden: true } : { example }),
      ...(place === ownProcess && { ownProcess: true }),
    }
  })
  const derived = manifest.operations.flatMap((operation) => {
    if (operation.cli === null) return []
    const { words, rest } = split(operation.cli)
    if (custom.some((entry) => entry.words === words)) return []
    return [{ words, rest: rest.replaceAll('_', '-'), summary: operation.summary, example: operation.example, operation }] // prettier-ignore
  })
  return [...custom, ...derived]
}

/** Splits the syntax of a command into its name and its positional words. */
function split(cli: string): { words: string; rest: string } {
  const words = cli.replace(/\s*[<[].*$/, '')
  return { words, rest: cli.slice(words.length).trim() }
}

/** Flags with a value that may precede the name of the command. */
const valued = new Set(['--server', '--state-dir', '--browser', '-s', '--session'])

/** A command line, split into the command and its arguments. */
export interface Split {
  readonly entry?: TableEntry
  /** A noun without a verb, whose help is to be shown. */
  readonly group?: string
  readonly argv: readonly string[]
}

/** Other spellings of commands. Shell sessions have files, which `ls` and `rm` list and delete. */
const spellings: Readonly<Record<string, string>> = {
  snapshot: 'observe',
  close: 'session close',
  ls: 'session list',
  'session ls': 'session list',
  'session new': 'session create',
  'session rm': 'session close',
  'session stop': 'session close',
  'profile ls': 'profile list',
  'profile rm': 'profile delete',
  'key ls': 'key list',
  'key new': 'key create',
  'key rm': 'key revoke',
  'relay ls': 'relay list',
  'crawl ls': 'crawl list',
  'shell new': 'shell create',
}

/** Finds the command on a command line. @throws BaxError `invalid_request` that suggests a similar name */
export function findCommand(entries: readonly TableEntry[], manifest: Manifest, argv: readonly string[]): Split {
  const at = wordPositions(argv)
  const typed = at.flatMap((index) => argv[index] ?? [])
  const without = (count: number) => argv.filter((_, index) => !at.slice(0, count).includes(index))
  const named = (count: number) => {
    const name = typed.slice(0, count).join(' ')
    return entries.find(({ words }) => words === name) ?? entries.find(({ words }) => words === spellings[name])
  }
  for (let count = 1; count <= typed.length; count += 1) {
    const entry = named(count)
    // The verb of a noun that is itself a command must follow it directly: `crawl -o list` is not `crawl list`.
    const verb = at[count] === at[count - 1]! + 1 ? named(count + 1) : undefined
    if (entry) return verb ? { entry: verb, argv: without(count + 1) } : { entry, argv: without(count) }
    const name = typed.slice(0, count).join(' ')
    if (entries.some(({ words }) => words.startsWith(`${name} `))) continue
    if (count === 1) {
      // Every browser command works without `do`.
      const batch = findEntry(name, manifest) && entries.find(({ words }) => words === 'do')
      if (batch) return { entry: batch, argv }
      throw unknownWord(name, entries, manifest)
    }
    const noun = typed.slice(0, count - 1).join(' ')
    const group = entries.filter(({ words, hidden }) => !hidden && words.startsWith(`${noun} `))
    const verbs = new Set(group.flatMap(({ words }) => words.slice(noun.length + 1).split(' ', 1)))
    throw new BaxError('invalid_request', `unknown command "${name}"${didYouMean(typed[count - 1]!, [...verbs])}`, {
      hint: `use "bax ${noun}" with one of ${[...verbs].join(', ')}`,
    })
  }
  return typed.length === 0 ? { argv } : { group: typed.join(' '), argv: without(typed.length) }
}

/** Returns the indexes of up to three words that may be the name of a command. */
export function wordPositions(argv: readonly string[]): number[] {
  const found: number[] = []
  for (let index = 0; index < argv.length && found.length < 3; index += 1) {
    const text = argv[index] ?? ''
    if (text === '--') break
    if (valued.has(text)) index += 1
    else if (!text.startsWith('-')) found.push(index)
  }
  return found
}

function unknownWord(word: string, entries: readonly TableEntry[], manifest: Manifest): BaxError {
  const snake = word.replaceAll('-', '_')
  const commands = manifest.commands.flatMap(({ name, also = [] }) => [name, ...also])
  const names = entries.filter(({ hidden }) => !hidden).flatMap(({ words }) => words.split(' ', 1))
  const near = suggest(word, new Set(names)) ?? kebab(suggest(snake, commands) ?? '')
  return new BaxError('invalid_request', `unknown command "${word}"${near ? ` (did you mean "${near}"?)` : ''}`, {
    hint: 'run "bax --help" for the commands',
  })
}
