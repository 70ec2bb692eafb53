/** Runs in a replay: shows the selected command and the copy of its page, which is sandboxed and runs no scripts. */
import type { ViewedPage } from './pages.ts'

interface Content {
  readonly parts: readonly string[]
  readonly pages: Readonly<Record<string, ViewedPage>>
}

type Phase = 'before' | 'after'

/** Policy inside of a copy, in addition to that of the replay, which it inherits. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
const style = `:where([data-bax-link]){color:#00e;text-decoration:underline;cursor:pointer}
[data-bax-missing]{display:inline-block!important;position:relative!important;background:#8883;overflow:hidden}
[data-bax-missing]::after{content:attr(data-bax-missing);position:absolute;inset:0;font:12px system-ui;padding:.3em;color:#555}`
const highlight =
  '[data-bax-target]{outline:3px solid #e8590c!important;outline-offset:2px!important;box-shadow:0 0 0 6px #e8590c44!important}'

const byId = (id: string) => document.getElementById(id)!
const sections = [...document.querySelectorAll<HTMLElement>('main>.step')]
const links = [...document.querySelectorAll<HTMLAnchorElement>('nav a')]
const screen = byId('screen')
const buttons = { before: byId('before'), after: byId('after') }
const search = byId('search') as HTMLInputElement
const onlyFailed = byId('failed') as HTMLInputElement
const texts = new Map(sections.map((section) => [section.id, section.textContent!.toLowerCase()]))
let current = sections[0]!
let phase: Phase = 'before'
let content: Content | undefined
let problem = 'loading the copies of the pages'

const isShown = (link: HTMLAnchorElement) => !link.parentElement!.hidden
const isNotable = ({ classList }: HTMLAnchorElement) => classList.contains('failed') || classList.contains('flagged')
const linkOf = (section: HTMLElement) => links.find(({ hash }) => hash === `#${section.id}`)

function select(section: HTMLElement, wanted: Phase = phase): void {
  current.classList.remove('current')
  current = section
  phase = wanted
  section.classList.add('current')
  section.querySelector('.head')!.after(byId('view'))
  for (const link of links) link.removeAttribute('aria-current')
  const link = linkOf(section)
  link?.setAttribute('aria-current', 'true')
  link?.scrollIntoView({ block: 'nearest' })
  draw()
}

function draw(): void {
  for (const [name, button] of Object.entries(buttons)) button.setAttribute('aria-pressed', String(name === phase))
  const number = current.id.slice(1)
  const own = content?.pages[`${number}-${phase}`]
  // A command that only reads has one copy, and one that was not copied may share that of its neighbor.
  const isRead = content && !current.querySelector('.pages')?.textContent?.includes('Page after')
  const page = own ?? (phase === 'after' && isRead ? content?.pages[`${number}-before`] : undefined)
  if (page) return show(page)
  const note = document.createElement('p')
  note.textContent = content
    ? `No copy of the page ${phase} this command; the reason is above, if it is known.`
    : problem
  screen.style.height = 'auto'
  screen.replaceChildren(note)
}

function show({ width, height, x, y, parts, picture }: ViewedPage): void {
  const scale = Math.min(1, screen.clientWidth / width)
  screen.style.height = `${Math.round(height * scale)}px`
  const shown = parts ? frameOf(parts, x, y) : pictureOf(picture!)
  Object.assign(shown.style, { width: `${width}px`, height: `${height}px`, transform: `scale(${scale})` })
  screen.replaceChildren(shown)
}

function frameOf(parts: readonly number[], x: number, y: number): HTMLElement {
  const frame = document.createElement('iframe')
  // Without allow-scripts nothing in it runs; the origin lets this script scroll it.
  frame.setAttribute('sandbox', 'allow-same-origin')
  frame.title = `Page ${phase} the command`
  const head = `<head><meta http-equiv="Content-Security-Policy" content="${policy}"><style>${style}${phase === 'before' ? highlight : ''}</style>`
  frame.srcdoc = parts
    .map((part) => content!.parts[part])
    .join('')
    .replace('<head>', () => head)
  frame.addEventListener('load', () => {
    frame.contentWindow?.scrollTo(x, y)
  })
  return frame
}

function pictureOf(picture: string): HTMLElement {
  const image = document.createElement('img')
  image.alt = `Page ${phase} the command`
  image.src = `data:image/jpeg;base64,${picture}`
  return image
}

function move(by: number, fits: (link: HTMLAnchorElement) => boolean = isShown): void {
  const at = links.findIndex((link) => link === linkOf(current))
  for (let next = at + by; next >= 0 && next < links.length; next += by) {
    if (fits(links[next]!)) return open(links[next]!)
  }
}

/** Selects a command and names it in the URL, without scrolling to it. */
function open({ hash }: HTMLAnchorElement): void {
  history.replaceState(null, '', hash)
  selectFromHash()
}

function filter(): void {
  const words = search.value.trim().toLowerCase()
  for (const link of links) {
    const text = texts.get(link.hash.slice(1)) ?? ''
    link.parentElement!.hidden = !text.includes(words) || (onlyFailed.checked && !isNotable(link))
  }
  const found = links.filter(isShown)
  byId('found').textContent = words || onlyFailed.checked ? `${found.length} of ${links.length}` : ''
  if (found[0] && !found.includes(linkOf(current)!)) open(found[0])
}

const keys: Readonly<Record<string, () => void>> = {
  ArrowDown: () => move(1),
  j: () => move(1),
  ArrowUp: () => move(-1),
  k: () => move(-1),
  ArrowLeft: () => select(current, 'before'),
  ArrowRight: () => select(current, 'after'),
  f: () => move(1, (link) => isShown(link) && link.classList.contains('failed')),
  '/': () => search.focus(),
}

function onKey(event: KeyboardEvent): void {
  const { target, key, ctrlKey, metaKey, altKey } = event
  if (key === 'Escape' && target === search) return search.blur()
  if (target instanceof HTMLInputElement || ctrlKey || metaKey || altKey) return
  const act = keys[key]
  if (!act) return
  event.preventDefault()
  act()
}

function selectFromHash(): void {
  const section = sections.find(({ id }) => `#${id}` === location.hash)
  if (section) select(section)
}

/** Steps that are listed before a failure, and facts of each. */
const [listedSteps, listedFacts] = [6, 3]

/** Lists what was flagged before a failure, with links. */
function listEarlier(section: HTMLElement): void {
  const place = section.querySelector('.earlier')
  if (!place) return
  const earlier = sections.slice(0, sections.indexOf(section)).filter((other) => factsOf(other).length > 0)
  const title = document.createElement(earlier.length > 0 ? 'h3' : 'p')
  title.textContent =
    earlier.length > 0 ? 'Before this' : 'No command before this is flagged: their pages may still show why.'
  const list = document.createElement('ul')
  const omitted = earlier.length - listedSteps
  if (omitted > 0) list.append(item(`${omitted} earlier flagged commands; they are marked in the list`))
  for (const other of earlier.slice(-listedSteps)) list.append(earlierItem(other))
  place.append(title, ...(earlier.length > 0 ? [list] : []))
}

/** Returns the error of a step that failed, and its flags. */
const factsOf = (section: HTMLElement): string[] =>
  [...section.querySelectorAll('.head>.fault b, .flags li')].map((element) => element.textContent!)

function earlierItem(section: HTMLElement): HTMLElement {
  const facts = factsOf(section)
  const more = facts.length > listedFacts ? [`and ${facts.length - listedFacts} more`] : []
  const link = document.createElement('a')
  link.href = `#${section.id}`
  const what = linkOf(section)?.querySelector('.what')?.textContent ?? ''
  link.textContent = section.id === 's0' ? what : `command ${section.id.slice(1)}: ${what}`
  return item(link, ` – ${[...facts.slice(0, listedFacts), ...more].join('; ')}`)
}

function item(...content: (Node | string)[]): HTMLElement {
  const element = document.createElement('li')
  element.append(...content)
  return element
}

async function load(): Promise<void> {
  try {
    const bytes = Uint8Array.from(atob(byId('pages').textContent!), (character) => character.charCodeAt(0))
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
    content = (await new Response(stream).json()) as Content
  } catch (error) {
    problem = `the copies of the pages cannot be read: ${String(error)}`
  }
  draw()
  document.body.dataset['ready'] = 'true'
}

document.body.classList.add('scripted')
buttons.before.addEventListener('click', () => select(current, 'before'))
buttons.after.addEventListener('click', () => select(current, 'after'))
search.addEventListener('input', filter)
onlyFailed.addEventListener('change', filter)
for (const link of links) {
  link.addEventListener('click', (event) => {
    event.preventDefault()
    open(link)
  })
}
addEventListener('keydown', onKey)
addEventListener('hashchange', selectFromHash)
addEventListener('resize', draw)
const first = sections.find(({ id }) => id !== 's0')
// The failed step of a script may be an expectation of a command that succeeded.
const atFailure = sections.find(({ dataset }) => dataset['failedStep'] !== undefined)
const failed = sections.find(({ dataset }) => dataset['status'] === 'failed')
for (const section of sections) {
  if (section === atFailure || section.dataset['status'] === 'failed') listEarlier(section)
}
// Where a run failed, what was flagged before is listed, too.
if (atFailure ?? failed) document.querySelector('#flagged')?.removeAttribute('open')
select(atFailure ?? failed ?? first ?? current, atFailure ? 'after' : phase)
selectFromHash()
void load()
