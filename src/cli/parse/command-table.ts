/** Every command of the terminal by its words: those made from operations, and those written by hand (`own-commands.ts`). */
import { BaxError } from '../../core/errors/errors.ts'
import { didYouMean, suggest } from '../../core/errors/suggest.ts'
import type { Manifest, OperationEntry } from '../../operations/manifest.ts'
import { relayWords } from '../relay/words.ts'
import { shellWords } from '../shell/words.ts'

export interface WordsEntry {
  /** `scrape`, `session create`. */
  readonly words: string
  /** Positional words as they stand in the help, e.g. `<session-id>`. */
  readonly rest: string
  readonly summary: string
  readonly example?: string
  readonly hidden?: boolean
  /** Present when the command is an operation and nothing more. */
  readonly operation?: OperationEntry
}

/** A command written by hand, as the help tells of it. */
export type OwnEntry = Omit<WordsEntry, 'rest'> & { readonly rest?: string }

const own: readonly OwnEntry[] = [
  {
    words: 'do',
    rest: '<command> …',
    summary: 'Run browser commands, one or several joined by `then`',
    example: "bax do navigate-to https://example.com then click 'a' then get-title",
  },
  {
    words: 'run',
    rest: '<script> …',
    summary: 'Run scripts of steps: for a person, and for CI',
    example: 'bax run shop/*.yaml --parallel 4 --reporter line,junit=report.xml',
  },
  {
    words: 'scrape',
    rest: '<url…>',
    summary: 'Scrape pages: Markdown, HTML, links, images, JSON, summary, branding, screenshot',
    example: 'bax scrape https://example.com',
  },
  {
    words: 'extract',
    rest: '[file…]',
    summary: 'Turn HTML files, or standard input, into Markdown; no browser, no network',
    example: 'bax extract page.html > page.md',
  },
  {
    words: 'search',
    rest: '<query>',
    summary: 'Search the web, and scrape what is found',
    example: "bax search 'how river deltas grow' --limit 3 --formats markdown",
  },
  {
    words: 'crawl',
    rest: '<url>',
    summary: 'Crawl a site into Markdown, on stdout or in a folder',
    example: 'bax crawl https://example.com/docs/ --limit 200 --max-depth 5 -o docs',
  },
  {
    words: 'map',
    rest: '<url>',
    summary: "List a site's addresses from links and sitemaps",
    example: 'bax map https://example.com --search docs',
  },
  {
    words: 'observe',
    summary: 'Look at the page: what is on it, what can be used, and how to name it',
    example: 'bax observe -s shop --include snapshot,screenshot',
  },
  {
    words: 'step',
    rest: '<command> …',
    summary: 'Run browser commands and see what they did to the page',
    example: "bax step click 'ref=e12' then type-text '#q' tea",
  },
  {
    words: 'session watch',
    summary: 'Follow the events of a session as they happen',
    example: 'bax session watch -s shop --types page.navigated,console',
  },
  {
    words: 'session create',
    summary: 'Create a browser session and wait until it is ready',
    example: 'bax session create --start-url https://example.com --use',
  },
  {
    words: 'session use',
    rest: '[id|name]',
    summary: 'Choose the session that commands use when they name none',
    example: 'bax session use shop',
  },
  {
    words: 'session view',
    summary: 'Watch a session live in your browser, or drive it by hand',
    example: 'bax session view -s shop --control',
  },
  ...relayWords,
  ...shellWords,
  {
    words: 'engine stop',
    summary: 'Stop the local engine with its sessions and browsers',
    example: 'bax engine stop',
  },
  {
    words: 'engine logs',
    summary: 'Print the log of the local engine',
    example: 'bax engine logs --lines 50',
  },
  {
    words: 'engine run',
    summary: 'Be the local engine; started by other commands when they need one',
    hidden: true,
  },
  {
    words: 'serve',
    summary: 'Serve the API over HTTP on this machine',
    example: 'bax serve --port 4100',
  },
  {
    words: 'tui',
    summary: 'Watch and drive everything from one full screen of the terminal',
    example: 'bax tui',
  },
  {
    words: 'api',
    rest: '<METHOD> <path>',
    summary: 'Send a request to the API and print its answer',
    example: 'bax api POST /commands --data \'{"commands":[{"command":"get_title"}]}\'',
  },
  {
    words: 'openapi',
    summary: 'Print the OpenAPI document of the API',
    example: 'bax openapi > openapi.json',
  },
  {
    words: 'doctor',
    summary: 'Say what is ready, what is missing, and how to mend it',
    example: 'bax doctor --json',
  },
  {
    words: 'setup',
    summary: 'Install the browsers that bax needs',
    example: 'bax setup',
  },
  {
    words: 'completion',
    rest: '<bash|zsh|fish>',
    summary: 'Print what makes your shell complete commands, flags and names',
    example: 'source <(bax completion bash)',
  },
  {
    words: 'complete',
    summary: 'Say what can follow; asked by the scripts of `bax completion`',
    hidden: true,
  },
]

/** All commands; a hand-written one replaces the operation of the same words. */
export function allWords(manifest: Manifest): WordsEntry[] {
  const made = manifest.operations
    .filter((operation) => operation.cli !== null)
    .map((operation) => {
      const words = operation.cli!.replaceAll(/\s*[<[].*$/g, '')
      const rest = operation.cli!.slice(words.length).trim().replaceAll('_', '-')
      return { words, rest, summary: operation.summary, example: operation.example, operation }
    })
    .filter(({ words }) => !own.some((entry) => entry.words === words))
  return [...own.map((entry) => ({ ...entry, rest: entry.rest ?? '' })), ...made]
}

/** Flags that take a value and may stand before the words. */
const valued = new Set(['--server', '--state-dir', '--browser', '-s', '--session'])

/** What was typed, split into the words of a command and the rest. */
export interface Split {
  readonly entry?: WordsEntry
  /** A noun without a verb: its group's help is wanted. */
  readonly group?: string
  readonly argv: readonly string[]
}

/** Finds the command that was typed. @throws BaxError `invalid_request` with what was probably meant. */
export function findCommand(entries: readonly WordsEntry[], manifest: Manifest, argv: readonly string[]): Split {
  const at = wordPositions(argv)
  const [first, second, third] = at.map((index) => argv[index]!)
  const without = (count: number) => argv.filter((_, index) => !at.slice(0, count).includes(index))
  if (first === undefined) return { argv }
  const single = entries.find(({ words }) => words === first)
  // A verb of a noun that is a command by itself stands right after it: `crawl list`, but `crawl -o list`.
  const pair = at[1] === at[0]! + 1 ? entries.find(({ words }) => words === `${first} ${second}`) : undefined
  if (single && pair) return { entry: pair, argv: without(2) }
  if (single) return { entry: single, argv: without(1) }
  const group = entries.filter(({ words }) => words.startsWith(`${first} `))
  if (group.length === 0) throw unknownWord(first, entries, manifest)
  if (second === undefined) return { group: first, argv: without(1) }
  const entry = group.find(({ words }) => words === `${first} ${second}`)
  if (entry) return { entry, argv: without(2) }
  const within = group.filter(({ words }) => words.startsWith(`${first} ${second} `))
  if (within.length > 0) return findWithin(`${first} ${second}`, third, within, without)
  const verbs = group.filter(({ hidden }) => !hidden).map(({ words }) => words.slice(first.length + 1).split(' ')[0]!)
  throw new BaxError('invalid_request', `unknown command "${first} ${second}"${didYouMean(second, verbs)}`, {
    hint: `bax ${first} has ${[...new Set(verbs)].join(', ')}`,
  })
}

/** The same for a noun that stands below another: `shell artifacts list`. */
function findWithin(
  noun: string,
  verb: string | undefined,
  group: readonly WordsEntry[],
  without: (count: number) => readonly string[],
): Split {
  if (verb === undefined) return { group: noun, argv: without(2) }
  const entry = group.find(({ words }) => words === `${noun} ${verb}`)
  if (entry) return { entry, argv: without(3) }
  const verbs = group.map(({ words }) => words.slice(noun.length + 1))
  throw new BaxError('invalid_request', `unknown command "${noun} ${verb}"${didYouMean(verb, verbs)}`, {
    hint: `bax ${noun} has ${verbs.join(', ')}`,
  })
}

export function wordPositions(argv: readonly string[]): number[] {
  const found: number[] = []
  for (let index = 0; index < argv.length && found.length < 3; index += 1) {
    const text = argv[index]!
    if (text === '--') break
    if (valued.has(text)) index += 1
    else if (!text.startsWith('-')) found.push(index)
  }
  return found
}

function unknownWord(word: string, entries: readonly WordsEntry[], manifest: Manifest): BaxError {
  const snake = word.replaceAll('-', '_')
  const names = entries.filter(({ hidden }) => !hidden).map(({ words }) => words.split(' ')[0]!)
  const near = suggest(word, new Set(names))
  const browserCommand = near
    ? undefined
    : suggest(
        snake,
        manifest.commands.map(({ name }) => name),
      )
  const exact = manifest.commands.find(({ name }) => name === snake)?.name
  const meant = exact ?? browserCommand
  const hint = meant ? `it is a browser command: bax do ${meant.replaceAll('_', '-')} …` : 'see `bax --help`'
  return new BaxError(
    'invalid_request',
    `unknown command "${word}"${near && !exact ? ` (did you mean "${near}"?)` : ''}`,
    {
      hint: meant && !exact ? `did you mean bax do ${meant.replaceAll('_', '-')}?` : hint,
    },
  )
}
