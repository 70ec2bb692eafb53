/** Crawling compared with Crawlee, loops over Playwright pages and the browser itself, on a generated site. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { type Crawled, type CrawlerName, type Field, installPeers, openField } from './crawl/field.ts'
import type { Row, Table } from './measure.ts'

const mixedPages = 300
const staticPages = 600
const longPages = 10_000
const rounds = 3

export async function measure(): Promise<Table[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bax-bench-'))
  try {
    await installPeers(folder)
    const { path } = await locateBrowser({ headless: true, stealth: false }, { cacheDir: join(folder, 'cache') })
    const facts = { folder, browser: path }
    return [
      await onField({ ...facts, pages: mixedPages, staticOnly: false }, mixedTable),
      await onField({ ...facts, pages: staticPages, staticOnly: true }, staticTable),
      await onField({ ...facts, pages: longPages, staticOnly: false }, longTable),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function onField(wish: Parameters<typeof openField>[0], table: (field: Field) => Promise<Table>): Promise<Table> {
  const field = await openField(wish)
  try {
    return await table(field)
  } finally {
    await field.close()
  }
}

/** The run of median speed. */
interface Middle extends Crawled {
  /** Seconds of the fastest and of the slowest run. */
  readonly spread: readonly [number, number]
}

/** Runs the crawlers in turn, so that noise affects all of them; returns the run of median speed for each. */
async function inTurn<Name extends CrawlerName>(field: Field, names: readonly Name[]): Promise<Record<Name, Middle>> {
  const all = new Map<Name, Crawled[]>(names.map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) for (const name of names) all.get(name)!.push(await field.crawl(name))
  const middle = (reports: Crawled[]): Middle => {
    const sorted = reports.toSorted((a, b) => a.seconds - b.seconds)
    return { ...sorted[Math.floor(rounds / 2)]!, spread: [sorted[0]!.seconds, sorted.at(-1)!.seconds] }
  }
  return Object.fromEntries([...all].map(([name, reports]) => [name, middle(reports)])) as Record<Name, Middle>
}

const speedTitle = 'pages/s, median (slowest–fastest)'

const atLeast = (value: number, bound: number): string =>
  `${value.toFixed(2)}x (at least ${bound}x${value >= bound ? '' : ', MISSED'})`
const atMost = (value: number, bound: number): string =>
  `${value.toFixed(2)}x (at most ${bound}x${value <= bound ? '' : ', MISSED'})`

/** Pages of the site per second; pages visited twice count once. */
const speedOf = (pages: number, { seconds }: Crawled): number => pages / seconds

/** Formats the speed of the median run, with those of the slowest and the fastest. */
const speedText = (pages: number, { seconds, spread: [fastest, slowest] }: Middle): string =>
  `${(pages / seconds).toFixed(1)} (${(pages / slowest).toFixed(1)}–${(pages / fastest).toFixed(1)})`

const missedOf = ({ missedRendered, rendered }: Crawled): string => `${missedRendered} of ${rendered}`

async function mixedTable(field: Field): Promise<Table> {
  const found = await inTurn(field, [
    'rawCdp',
    'crawleePlaywright',
    'playwrightPages',
    'playwrightLoop',
    'browser',
    'auto',
  ])
  const faster = (of: Crawled, than: Crawled) => than.seconds / of.seconds
  const { rawCdp, crawleePlaywright, playwrightPages, playwrightLoop, browser, auto } = found
  const row = (name: string, report: Middle, ...cells: string[]): Row => ({
    name,
    cells: [speedText(mixedPages, report), (report.cpuMs / mixedPages).toFixed(0), missedOf(report), ...cells],
  })
  return {
    title: `A crawl of ${mixedPages} pages, a fifth of them filled by scripts`,
    columns: [
      speedTitle,
      'CPU ms a page',
      'script-filled pages missed',
      'to PlaywrightCrawler',
      'to a Playwright loop, a page each',
      'the same, four pages used again',
      'time to raw CDP',
    ],
    note: mixedNote,
    rows: [
      row('raw CDP: navigate, load, outerHTML', rawCdp, '', '', '', '1x'),
      row('Crawlee PlaywrightCrawler', crawleePlaywright, '1x', '', '', ''),
      row('Playwright loop, a page each', playwrightPages, '', '1x', '', ''),
      row('Playwright loop, four pages used again', playwrightLoop, '', '', '1x', ''),
      row(
        '**bax crawl, render browser**',
        browser,
        atLeast(faster(browser, crawleePlaywright), 5),
        atLeast(faster(browser, playwrightPages), 2.5),
        `${faster(browser, playwrightLoop).toFixed(2)}x`,
        atMost(faster(rawCdp, browser), 1.4),
      ),
      row('**bax crawl, render auto**', auto, atLeast(faster(auto, crawleePlaywright), 10), '', '', ''),
    ],
  }
}

/** Why two loops: even raw CDP, which only renders, is less than 2.5 times as fast as the second one. */
const mixedNote = [
  'Four pages at a time for the others; bax sets its own pace, extracts the main content and writes Markdown.',
  'The bound of 2.5x is that of a loop which opens a page for each address; a loop that uses four pages again and again stands beside it without one, as not even raw CDP is that much faster.',
  'The clock runs from nothing, the start of the browser included. Median of three runs in turn.',
].join(' ')

async function staticTable(field: Field): Promise<Table> {
  const { crawleeCheerio, auto } = await inTurn(field, ['crawleeCheerio', 'auto'])
  const row = (name: string, report: Middle, cell: string): Row => ({
    name,
    cells: [speedText(staticPages, report), String(report.incomplete.length), cell],
  })
  return {
    title: `A crawl of ${staticPages} static pages`,
    columns: [speedTitle, 'pages missed', 'to CheerioCrawler'],
    note: 'CheerioCrawler takes the text of each body; bax extracts the main content and writes Markdown.',
    rows: [
      row('Crawlee CheerioCrawler, four at a time', crawleeCheerio, '1x'),
      row('**bax crawl, render auto**', auto, atLeast(crawleeCheerio.seconds / auto.seconds, 3)),
    ],
  }
}

async function longTable(field: Field): Promise<Table> {
  const crawled = await field.crawl('auto', { memory: true })
  const { arrivals, incomplete, memory } = crawled
  const first = speedBetween(arrivals, 500, 2500)
  const last = speedBetween(arrivals, longPages - 2000, longPages)
  const drift = Math.abs(last / first - 1)
  // The first pages of a crawl start its browsers, which end after the last.
  const settled = memory!.filter(({ pages }) => pages >= 500 && pages < longPages)
  const [begin, end] = [middleOf(settled.slice(0, 5)), middleOf(settled.slice(-5))]
  const bounded = (text: string, met: boolean) => `${text}${met ? '' : ', MISSED'}`
  return {
    title: `A crawl of ${longPages} pages, render auto`,
    columns: ['first', 'last', 'change'],
    note: `${speedOf(longPages, crawled).toFixed(1)} pages/s over all, ${incomplete.length} pages incomplete, script-filled pages missed: ${missedOf(crawled)}. Speed over pages 500 to 2500 and over the last 2000; memory (PSS of all processes) after page 500 and at the end.`,
    rows: [
      {
        name: 'pages/s',
        cells: [
          first.toFixed(1),
          last.toFixed(1),
          bounded(`${(drift * 100).toFixed(0)} % (at most 10 %)`, drift <= 0.1),
        ],
      },
      {
        name: 'memory, MB',
        cells: [
          begin.toFixed(0),
          end.toFixed(0),
          bounded(`${((end / begin - 1) * 100).toFixed(0)} % (flat: at most 10 %)`, end / begin <= 1.1),
        ],
      },
    ],
  }
}

const speedBetween = (arrivals: readonly number[], from: number, to: number): number =>
  (to - from) / ((arrivals[Math.min(to, arrivals.length) - 1]! - arrivals[from]!) / 1000)

const middleOf = (samples: readonly { readonly megabytes: number }[]): number =>
  samples.map(({ megabytes }) => megabytes).toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? 0
