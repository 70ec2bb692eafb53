/** The summary of a crawl as one HTML file without requests: what it visited, what failed, and what it skipped. */
import { escapeHtml, htmlPage } from '../../../core/html/page.ts'
import type { CrawlAccounts, CrawlEventData } from '../../../core/shapes/crawl.ts'
import { counted } from '../../output/counted.ts'
import { readableMs } from '../../../core/text/readable-ms.ts'
import type { Row, RowKind } from './rows.ts'
import tableScript from './table.page.ts?inline'

export interface CrawlSummary {
  readonly url: string
  readonly id: string
  /** Absent if the end of the crawl was not received. */
  readonly finished?: CrawlEventData['crawl.finished'] | undefined
  /** When the crawl began, as in its events. */
  readonly startedAt: string
  readonly rows: readonly Row[]
  readonly accounts: CrawlAccounts
  /** Removes secrets from a text of the site. */
  readonly redact: Redact
}

type Redact = (text: string) => string

const maxTitle = 300
const maxUrl = 2000

const kinds: Readonly<Record<RowKind, string>> = {
  page: 'visited',
  failed: 'failed',
  skipped: 'skipped',
  blocked: 'blocked by robots.txt',
}

const style = `
body{max-width:80rem}
header p{margin:.25rem 0 0}
.tools{display:none;gap:.5rem 1rem;flex-wrap:wrap;align-items:center;margin:1rem 0 .6rem}.scripted .tools{display:flex}
.tools [type=search]{flex:1 1 14rem;max-width:30rem;min-width:0}
.tools [type=search],select{font:inherit;padding:.3rem .6rem;border:1px solid var(--line);border-radius:.4rem;background:Canvas;color:CanvasText}
:focus-visible{outline:2px solid var(--mark);outline-offset:1px}
#more{font:inherit;margin:.8rem 0;padding:.3rem .8rem;border:1px solid var(--line);border-radius:.4rem;background:Canvas;color:CanvasText;cursor:pointer}
h2{margin:1.4rem 0 .3rem}
.counts{border-collapse:collapse;font-size:.9rem}.counts td,.counts th{padding:.15rem .8rem .15rem 0;text-align:left;font-weight:normal}.counts td.number{text-align:right}
#rows{border-collapse:collapse;table-layout:fixed;width:100%;font-size:.9rem}
#rows th{position:sticky;top:0;background:Canvas;text-align:left;padding:.35rem .5rem;border-bottom:1px solid var(--line)}
#rows th button{font:inherit;font-weight:600;border:0;padding:0;background:none;color:inherit;cursor:pointer}
#rows th[aria-sort=ascending] button::after{content:" ▲"}#rows th[aria-sort=descending] button::after{content:" ▼"}
#rows td{padding:.35rem .5rem;border-top:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
#rows .result{width:7.5rem}#rows .depth{width:4.5rem}#rows .time{width:5.5rem}#rows .about{width:32%}
#rows td.number{text-align:right;white-space:nowrap}
#rows .title{font-weight:600}.failed .result,.failed .about{color:light-dark(#c62828,#ff8a80)}
.skipped .result,.blocked .result{color:var(--dim)}
@media (max-width:720px){#rows,#rows tbody,#rows tr,#rows td{display:block;width:auto!important}#rows thead{display:none}#rows tr{border-top:1px solid var(--line);padding:.3rem 0}#rows td{border:0;padding:.05rem 0}#rows td.number{text-align:left}#rows td:empty{display:none}#rows .depth:not(:empty)::before{content:"depth "}#rows tr[hidden]{display:none}}
`

/** Builds the page. */
export function summaryPage(summary: CrawlSummary): string {
  const { url, rows, accounts, redact, startedAt } = summary
  const start = Date.parse(startedAt)
  const site = redact(excerpt(url, maxUrl))
  const body = `${header(summary, site)}
<main>
${skippedTable(rows, accounts)}
<h2>URLs</h2>
<div class="tools"><input type="search" id="search" placeholder="Search URLs, titles, errors" aria-label="Search">
<select id="kind" aria-label="Show"><option value="">all</option>${Object.entries(kinds)
    .filter(([kind]) => rows.some((row) => row.kind === kind))
    .map(([kind, text]) => `<option value="${kind}">${text}</option>`)
    .join('')}</select><span class="facts" id="found" role="status"></span></div>
<table id="rows"><thead><tr>${columns.map(([name, text]) => `<th scope="col" class="${name}">${text}</th>`).join('')}</tr></thead>
<tbody>
${rows.map((row) => rowHtml(row, start, redact)).join('\n')}
</tbody></table>
<button id="more" type="button" hidden>Show more</button>
</main>`
  return htmlPage({ title: `Crawl of ${site}`, style, body, script: tableScript })
}

const columns = [
  ['result', 'Result'],
  ['page', 'Page'],
  ['depth', 'Depth'],
  ['time', 'Finished'],
  ['about', 'Notes'],
] as const

function header({ id, finished, startedAt, rows, accounts, redact }: CrawlSummary, site: string): string {
  const { errors, skipped_total: skipped, robots_blocked: blocked } = accounts
  const status = finished?.status ?? 'interrupted'
  const visited = rows.filter(({ kind }) => kind === 'page').length
  const counts = [counted(visited, 'page'), counted(errors.length, 'error')]
  const facts = [
    startedAt,
    ...(finished ? [readableMs(finished.duration_ms)] : []),
    ...counts,
    `${skipped} skipped`,
    `${blocked.length} blocked by robots.txt`,
    id,
  ]
  const fault = finished?.error
    ? `<div class="fault"><p>${bdi(redact(finished.error))} <code>${escapeHtml(finished.code ?? '')}</code></p></div>`
    : ''
  return `<header><h1>Crawl of ${bdi(site)} <span class="chip ${status === 'completed' ? 'passed' : status === 'failed' ? 'failed' : 'flaky'}">${status}</span></h1>
<p class="facts">${facts.map(escapeHtml).join(' · ')}</p>${fault}</header>`
}

/** Returns how many URLs were skipped for each reason. */
function skippedTable(rows: readonly Row[], accounts: CrawlAccounts): string {
  const notVisited = rows.filter(({ kind }) => kind === 'skipped' || kind === 'blocked')
  if (notVisited.length === 0) return ''
  const counts = new Map<string, number>()
  for (const { note } of notVisited) counts.set(note!, (counts.get(note!) ?? 0) + 1)
  const left = accounts.skipped_total - accounts.skipped.length
  const lines = [...counts].toSorted(([, a], [, b]) => b - a)
  const unlisted =
    left > 0 ? [[`not listed here: more than ${accounts.skipped.length} were skipped`, left] as const] : []
  return `<h2>Not visited</h2><table class="counts">${[...lines, ...unlisted]
    .map(([text, count]) => `<tr><td class="number">${count}</td><th scope="row">${escapeHtml(text)}</th></tr>`)
    .join('')}</table>`
}

function rowHtml({ kind, url, title, depth, status, ts, note, code }: Row, start: number, redact: Redact): string {
  const ms = ts === undefined ? undefined : Math.max(0, Date.parse(ts) - start)
  const result =
    kind === 'page' ? (status ?? '') : [kind === 'blocked' ? 'skipped' : kind, status].filter(Boolean).join(' ')
  const heading =
    title === undefined || title === '' ? '' : `<div class="title">${bdi(redact(excerpt(title, maxTitle)))}</div>`
  const about = [
    ...(note === undefined ? [] : [bdi(redact(excerpt(note, maxUrl)))]),
    ...(code === undefined ? [] : [`<code>${escapeHtml(code)}</code>`]),
  ]
  return `<tr class="${kind}"><td class="result">${result}</td><td class="page">${heading}${link(redact(url))}</td><td class="depth number">${depth ?? ''}</td><td class="time number"${ms === undefined ? '' : ` data-ms="${ms}"`}>${ms === undefined ? '' : `+${readableMs(ms)}`}</td><td class="about">${about.join(' ')}</td></tr>`
}

/** Returns a URL, as a link if a click on it can only open a web page. */
function link(url: string): string {
  const text = bdi(excerpt(url, maxUrl))
  return /^https?:\/\//i.test(url) ? `<a href="${escapeHtml(url)}" rel="noreferrer">${text}</a>` : text
}

/** Isolates a text, which may change the direction of what follows it. */
const bdi = (text: string): string => `<bdi>${escapeHtml(text)}</bdi>`

const excerpt = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)
