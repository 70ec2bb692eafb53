/** Pages of a generated site, each with unique texts by which the result of a crawler is checked. */

/** Kind of a page: an article, three kinds filled by scripts, a slow article, one behind a redirect, and a missing one. */
export type PageKind = 'article' | 'fetched' | 'bundled' | 'completed' | 'slow' | 'redirect' | 'missing'

export interface SitePlan {
  readonly pages: number
  /** Only pages that are complete as sent. */
  readonly staticOnly: boolean
}

/** Links from a page to pages below it. */
const branches = 20
export const slowMs = 250
export const dataMs = 40

/** Kinds of a hundred leaves. Inner pages are articles, so that missing content causes no missing pages. */
const mixed: readonly [PageKind, number][] = [
  ['article', 66],
  ['fetched', 7],
  ['bundled', 6],
  ['completed', 6],
  ['slow', 5],
  ['redirect', 6],
  ['missing', 4],
]

export function kindOfPage(at: number, { pages, staticOnly }: SitePlan): PageKind {
  if (at * branches + 1 < pages) return 'article'
  let place = (at * 37) % 100
  for (const [kind, share] of mixed) {
    place -= share
    if (place < 0) return staticOnly && clientRendered.has(kind) ? 'article' : kind
  }
  return 'article'
}

export const clientRendered: ReadonlySet<PageKind> = new Set(['fetched', 'bundled', 'completed'])

/** Returns the path that other pages link to. */
export const pathOf = (at: number, plan: SitePlan): string =>
  at === 0 ? '/' : `/${kindOfPage(at, plan) === 'redirect' ? 'old' : 'page'}/${at}`

/** Returns the number of a page by the path of its URL, before or after a redirect; undefined for others. */
export function pageAt(path: string): number | undefined {
  if (path === '/') return 0
  const [, at] = /^\/(?:page|old)\/(\d+)$/.exec(path) ?? []
  return at === undefined ? undefined : Number(at)
}

/** The text that only the complete page has. */
export const markerOf = (at: number): string => `observation ${(at * 2_654_435_761) % 4_294_967_296} of delta ${at}`

const sentence = (at: number, line: number): string =>
  `In the year ${1500 + ((at * 31 + line * 7) % 500)} the river moved ${(at + line) % 90} tons of sand, and its delta grew by ${(line * 13 + at) % 40} fields.`

const paragraph = (at: number, line: number): string =>
  `<p>${[0, 1, 2, 3].map((part) => sentence(at, line + part)).join(' ')} See <a href="#note-${line}">note ${line}</a>.</p>`

/** Sections with prose, a list, a table and code: about 15 KB. */
const prose = (at: number): string =>
  Array.from({ length: 5 }, (_, part) => {
    const lines = Array.from({ length: 4 }, (_, line) => paragraph(at, part * 10 + line)).join('\n')
    const items = Array.from({ length: 5 }, (_, item) => `<li>Sample ${item} of <b>part ${part}</b></li>`).join('')
    return `<h2>Part ${part} of delta ${at}</h2>\n${lines}\n<ul>${items}</ul>\n<pre><code class="language-js">const depth = ${at + part}</code></pre>\n<table><tr><th>Year</th><th>Tons</th></tr><tr><td>${1900 + part}</td><td>${at}</td></tr></table>\n<img src="/assets/map-${(at + part) % 40}.png" alt="Map ${part}" width="320" height="200">`
  }).join('\n')

export function linksOf(at: number, plan: SitePlan): number[] {
  const first = at * branches + 1
  return Array.from({ length: branches }, (_, branch) => first + branch).filter((page) => page < plan.pages)
}

const navigation = (at: number, plan: SitePlan): string => {
  const below = linksOf(at, plan).map((page) => `<li><a href="${pathOf(page, plan)}">Delta ${page}</a></li>`)
  return `<header><a href="/">Rivers of the world</a><nav><ul>${below.join('')}</ul></nav></header>`
}

const head = (at: number): string =>
  `<meta charset="utf-8"><title>Delta ${at}</title><meta name="description" content="How delta ${at} grew."><link rel="stylesheet" href="/assets/site.css"><script src="/assets/analytics.js" async></script>`

const footer = `<footer><p>Rivers of the world, since 1998.</p><ul>${'<li><a href="/">Home</a></li>'.repeat(6)}</ul></footer>`

function article(at: number, plan: SitePlan): string {
  return `<!doctype html><html lang="en"><head>${head(at)}</head><body>${navigation(at, plan)}<main><article><h1>Delta ${at}</h1>\n${prose(at)}\n<p>This is ${markerOf(at)}, which ends the report.</p></article></main>${footer}<script>document.querySelector('header').addEventListener('click', () => document.body.classList.toggle('open'))</script></body></html>`
}

/** An application that fetches all its content. */
const fetched = (at: number): string =>
  `<!doctype html><html lang="en"><head>${head(at)}</head><body><div id="app"></div><script>
fetch('/data/${at}').then((answer) => answer.json()).then(({ html }) => { document.getElementById('app').innerHTML = html })
</script></body></html>`

/** An application in modules that are loaded in two steps, with its content encoded in the page. */
const bundled = (at: number): string =>
  `<!doctype html><html lang="en"><head>${head(at)}</head><body><div id="root"></div><script type="application/json" id="state">${JSON.stringify({ packed: Buffer.from(applicationHtml(at)).toString('base64') })}</script><script type="module" src="/assets/main.js"></script></body></html>`

/** An article with a part that is inserted after loading. */
const completed = (at: number, plan: SitePlan): string =>
  `<!doctype html><html lang="en"><head>${head(at)}</head><body>${navigation(at, plan)}<main><article><h1>Delta ${at}</h1>\n${prose(at)}\n<ul id="observations"></ul></article></main>${footer}<script>
addEventListener('DOMContentLoaded', () => setTimeout(() => {
  const request = new XMLHttpRequest()
  request.open('GET', '/data/${at}')
  request.onload = () => {
    for (const text of JSON.parse(request.responseText).items) {
      const item = document.createElement('li')
      item.textContent = text
      document.getElementById('observations').appendChild(item)
    }
  }
  request.send()
}, 60))
</script></body></html>`

const applicationHtml = (at: number): string =>
  `<main><h1>Delta ${at}</h1>${prose(at)}<p>This is ${markerOf(at)}, which ends the report.</p></main>`

/** Returns the page as it is sent. */
export function htmlOf(at: number, plan: SitePlan): string {
  const kind = kindOfPage(at, plan)
  if (kind === 'fetched') return fetched(at)
  if (kind === 'bundled') return bundled(at)
  if (kind === 'completed') return completed(at, plan)
  return article(at, plan)
}

/** Returns the response to requests of scripts. */
export const dataOf = (at: number): string =>
  JSON.stringify({
    html: applicationHtml(at),
    items: [...[1, 2, 3, 4].map((line) => sentence(at, line)), `This is ${markerOf(at)}.`],
  })

export const assets: Record<string, readonly [type: string, body: string]> = {
  '/assets/site.css': [
    'text/css',
    Array.from({ length: 120 }, (_, at) => `.c${at} > p { margin: ${at}px; color: #${100 + at} }`).join('\n'),
  ],
  '/assets/analytics.js': ['text/javascript', 'window.dataLayer = window.dataLayer || []; dataLayer.push({ seen: 1 })'],
  '/assets/main.js': [
    'text/javascript',
    "const { show } = await import('/assets/view.js'); show(document.getElementById('root'), JSON.parse(document.getElementById('state').textContent))",
  ],
  '/assets/view.js': [
    'text/javascript',
    'export function show(root, { packed }) { requestAnimationFrame(() => setTimeout(() => { root.innerHTML = atob(packed) }, 50)) }',
  ],
}
