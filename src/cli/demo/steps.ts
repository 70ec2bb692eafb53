/** The workflows of `bax demo tour`: the commands that a person would type. */

import { quoteWord } from '../../core/text/shell-words.ts'

/** A command of the tour, by its words after `bax`. */
export interface Step {
  readonly argv: readonly string[]
  /** Most lines of output that are shown; all of them by default. */
  readonly lines?: number
  /** Runs beside the steps after it, which begin when it has printed a result; ended with the workflow. */
  readonly runsBeside?: true
}

export interface Workflow {
  readonly title: string
  readonly steps: readonly Step[]
  /** Runs after the steps, also after a failed one. */
  readonly end?: readonly string[]
}

export interface Place {
  /** Origin of the demo site. */
  readonly url: string
  /** Folder for files. */
  readonly folder: string
  /** Name of sessions and relays. */
  readonly name: string
  readonly headed: boolean
}

/** The script of the tour, which it writes to its folder. */
export const script = (url: string): string => `# order.yaml: sign in, order two teas, and check the order
steps:
  - navigate_to: ${url}/shop/login
  - fill_form: {fields: {Name: ada, Password: oolong}}
  - click: role=button[name="Sign in"]
  - navigate_to: ${url}/shop/tea/sencha-asatsuyu
  - fill_form: {fields: {Pieces: 2}}
  - click: text=Add to basket
  - click: text=Go to checkout
  - fill_form: {fields: {Name: Ada, Address: Harbour Street 1, Delivery: Express}}
  - click: role=button[name="Order"]
  - get_text: h1
    expect: {equals: Order 1}
  - get_text: .price
    expect: {equals: €29.80}
`

/** Returns the command line as a person would type it. */
export const lineOf = (argv: readonly string[]): string => ['bax', ...argv].map(quoteWord).join(' ')

export const scrapeOf = (url: string): readonly string[] => ['scrape', `${url}/docs/boiler-add`]

/** Returns the command that crawls the whole manual into a folder. */
export const crawlOf = (url: string, folder: string): readonly string[] => [
  'crawl',
  `${url}/docs`,
  '--include-paths',
  '/docs/*',
  '--limit',
  '100',
  '-o',
  folder,
]

export const workflows = ({ url, folder, name, headed }: Place): readonly Workflow[] => {
  const at = ['-s', name]
  const relay = `${name}-own`
  return [
    {
      title: 'Open a page and act on it',
      steps: [
        { argv: ['open', `${url}/shop`, ...at, ...(headed ? ['--headed'] : [])] },
        { argv: ['observe', ...at, '--interactive-only'], lines: 8 },
        { argv: ['click', 'text=Gyokuro Okumidori', ...at] },
        { argv: ['fill-form', '{"Pieces": 3}', ...at] },
        { argv: ['click', 'text=Add to basket', ...at] },
        { argv: ['get-text', '.price', ...at] },
        { argv: ['screenshot', ...at, '-o', `${folder}/basket.png`] },
      ],
      end: ['close', ...at],
    },
    {
      title: 'Read pages and a whole site',
      steps: [
        { argv: scrapeOf(url), lines: 14 },
        { argv: crawlOf(url, `${folder}/manual`), lines: 5 },
      ],
    },
    { title: 'Run a script, as in CI', steps: [{ argv: ['run', `${folder}/order.yaml`] }] },
    {
      title: 'Use your own browser',
      steps: [
        { argv: ['relay', 'connect', '--launch', '--name', relay], runsBeside: true },
        { argv: ['navigate-to', `${url}/readings`, '-s', relay] },
        { argv: ['get-text', 'main > p', '-s', relay] },
        { argv: ['cdp', '-s', relay, 'Page.getNavigationHistory'], lines: 4 },
      ],
    },
    {
      title: 'Run code in a container',
      steps: [
        { argv: ['shell', 'create', '--name', name] },
        { argv: ['shell', 'exec', '-s', name, 'seq 1 500 | wc -l'] },
      ],
      end: ['shell', 'delete', name],
    },
  ]
}
