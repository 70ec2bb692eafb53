/** Reads the branding of a rendered page: colours, fonts, logo. Unknown values are omitted. */
import { type Colour, contrast, hexOf, isNeutral, parseColour, saturation } from './colour.ts'

interface Button {
  readonly background?: string
  readonly textColor?: string
  readonly borderColor?: string
  readonly borderRadius: string
}

const styleOf = (element: Element): CSSStyleDeclaration => getComputedStyle(element)

function isVisible(element: Element): boolean {
  const box = element.getBoundingClientRect()
  const style = styleOf(element)
  return box.width > 0 && box.height > 0 && style.visibility !== 'hidden' && Number(style.opacity) > 0.05
}

/** Returns the first opaque background of an element and its ancestors. */
function backgroundOf(element: Element | null): Colour | undefined {
  for (let current = element; current; current = current.parentElement) {
    const colour = parseColour(styleOf(current).backgroundColor)
    if (colour && colour.alpha > 0.5) return colour
  }
  return undefined
}

class Votes {
  readonly #weights = new Map<string, number>()
  add(name: string | undefined, weight: number): void {
    if (name) this.#weights.set(name, (this.#weights.get(name) ?? 0) + weight)
  }
  ranked(): string[] {
    return [...this.#weights].toSorted((a, b) => b[1] - a[1]).map(([name]) => name)
  }
}

const actionable =
  'button, [role="button"], input[type="submit"], input[type="button"], a[class*="btn" i], a[class*="button" i], a[class*="cta" i]'

function buttons(): Element[] {
  return [...document.querySelectorAll(actionable)].filter(isVisible).slice(0, 60)
}

function buttonFacts(element: Element): Button {
  const style = styleOf(element)
  const background = parseColour(style.backgroundColor)
  const text = parseColour(style.color)
  const border = Number.parseFloat(style.borderTopWidth) > 0 ? parseColour(style.borderTopColor) : undefined
  return {
    ...(background && background.alpha > 0.5 && { background: hexOf(background) }),
    ...(text && { textColor: hexOf(text) }),
    ...(border && border.alpha > 0.5 && { borderColor: hexOf(border) }),
    borderRadius: style.borderTopLeftRadius,
  }
}

/** Returns the brand colours, by buttons, links and named custom properties rather than text. */
function colours(page: Colour): Record<string, string> {
  const votes = new Votes()
  const vote = (colour: Colour | undefined, weight: number) => {
    if (colour && colour.alpha > 0.5 && !isNeutral(colour))
      votes.add(hexOf(colour), weight * (0.5 + saturation(colour)))
  }
  for (const element of buttons()) vote(parseColour(styleOf(element).backgroundColor), 4)
  for (const element of [...document.querySelectorAll('header, nav, [class*="hero" i], footer')].slice(0, 20)) {
    if (isVisible(element)) vote(parseColour(styleOf(element).backgroundColor), 3)
  }
  for (const element of [...document.querySelectorAll('h1, h2, h3')].slice(0, 30))
    vote(parseColour(styleOf(element).color), 1)
  const theme = document.querySelector<HTMLMetaElement>('meta[name="theme-color"]')?.content
  vote(theme ? parseColour(theme) : undefined, 3)
  const link = linkColour()
  vote(link, 2)
  const named = namedColours()
  const ranked = votes.ranked()
  const primary = named.primary ?? ranked[0]
  const others = ranked.filter((colour) => colour !== primary)
  const secondary = named.secondary ?? others[0]
  const accent = named.accent ?? others.find((colour) => colour !== secondary)
  const text = textColours(page)
  return present({ primary, secondary, accent, background: hexOf(page), ...text, link: link && hexOf(link) })
}

/** Returns the colours of named custom properties: `--primary`, `--color-accent`. */
function namedColours(): { primary?: string; secondary?: string; accent?: string } {
  const root = styleOf(document.documentElement)
  const found: Record<string, string> = {}
  for (const role of ['primary', 'secondary', 'accent']) {
    for (const name of [`--${role}`, `--color-${role}`, `--${role}-color`, `--brand-${role}`, `--bs-${role}`]) {
      const value = root.getPropertyValue(name).trim()
      const colour = value === '' ? undefined : parseColour(value)
      if (colour && colour.alpha > 0.5) found[role] ??= hexOf(colour)
    }
  }
  return found
}

function linkColour(): Colour | undefined {
  const votes = new Votes()
  const links = document.querySelectorAll('main a[href], article a[href], p a[href], li a[href]')
  for (const link of [...links].slice(0, 100)) {
    if (!isVisible(link) || link.matches(actionable)) continue
    const colour = parseColour(styleOf(link).color)
    if (colour) votes.add(hexOf(colour), 1)
  }
  const [first] = votes.ranked()
  return first ? parseColour(first) : undefined
}

function textColours(page: Colour): { textPrimary?: string; textSecondary?: string } {
  const votes = new Votes()
  for (const element of [...document.querySelectorAll('p, li, td, dd, span, div')].slice(0, 800)) {
    const own = [...element.childNodes].reduce(
      (sum, node) => sum + (node instanceof Text ? node.data.trim().length : 0),
      0,
    )
    if (own === 0 || !isVisible(element)) continue
    const colour = parseColour(styleOf(element).color)
    if (colour && contrast(colour, backgroundOf(element) ?? page) > 2) votes.add(hexOf(colour), own)
  }
  const [first, second] = votes.ranked()
  const body = document.body && parseColour(styleOf(document.body).color)
  const textPrimary = first ?? (body ? hexOf(body) : undefined)
  return { ...(textPrimary && { textPrimary }), ...(second && { textSecondary: second }) }
}

const stackOf = (element: Element): string[] =>
  styleOf(element)
    .fontFamily.split(',')
    .map((family) => family.trim().replaceAll(/^["']|["']$/g, ''))
    .filter(Boolean)

const pick = (...selectors: string[]) =>
  selectors.map((selector) => document.querySelector(selector)).find((element) => element && isVisible(element))

function typography() {
  const body = pick('main p', 'article p', 'p') ?? document.body
  const heading = pick('h1', 'h2', 'h3')
  const code = pick('pre code', 'pre', 'code')
  const roles = { primary: body, heading, code }
  const entries = Object.entries(roles).flatMap(([role, element]) =>
    element ? [[role, stackOf(element)] as const] : [],
  )
  const size = (selector: string) => {
    const element = pick(selector)
    return element ? styleOf(element).fontSize : undefined
  }
  const weight = (element: Element | null | undefined) => (element ? Number(styleOf(element).fontWeight) : undefined)
  return {
    fonts: fontList(entries),
    typography: present({
      fontFamilies: Object.fromEntries(entries.map(([role, stack]) => [role, stack[0]])),
      fontStacks: Object.fromEntries(entries),
      fontSizes: present({ h1: size('h1'), h2: size('h2'), h3: size('h3'), body: body && styleOf(body).fontSize }),
      fontWeights: present({ regular: weight(body), heading: weight(heading) }),
      lineHeights: present({ body: body && styleOf(body).lineHeight }),
    }),
  }
}

function fontList(entries: readonly (readonly [string, readonly string[]])[]): { family: string; role: string }[] {
  const roles: Record<string, string> = { primary: 'body', heading: 'heading', code: 'monospace' }
  const seen = new Map<string, string>()
  for (const [role, [family]] of entries) if (family && !seen.has(family)) seen.set(family, roles[role]!)
  return [...seen].map(([family, role]) => ({ family, role }))
}

function logo(): string | undefined {
  const scored = [...document.querySelectorAll('img, svg')]
    .slice(0, 200)
    .map((element) => ({ element, score: logoScore(element) }))
  const best = scored.toSorted((a, b) => b.score - a.score)[0]
  if (!best || best.score < 3) return linkedLogo()
  const { element } = best
  if (element instanceof HTMLImageElement) return element.currentSrc || element.src || undefined
  const text = new XMLSerializer().serializeToString(element)
  return text.length < 50_000 ? `data:image/svg+xml;utf8,${encodeURIComponent(text)}` : undefined
}

function logoScore(element: Element): number {
  const box = element.getBoundingClientRect()
  if (!isVisible(element) || box.width < 16 || box.height < 12 || box.top > innerHeight) return 0
  const own = [
    element.id,
    element.getAttribute('class'),
    element.getAttribute('alt'),
    element.getAttribute('aria-label'),
    element.getAttribute('src'),
  ].join(' ')
  const link = element.closest('a')
  const around = [link?.className, link?.getAttribute('aria-label'), element.parentElement?.className].join(' ')
  const home =
    link &&
    new URL(link.href, location.href).pathname === '/' &&
    new URL(link.href, location.href).host === location.host
  return (
    (/logo|brand|wordmark/i.test(own) ? 3 : 0) +
    (/logo|brand/i.test(around) ? 2 : 0) +
    (home ? 2 : 0) +
    (element.closest('header, nav, [role="banner"]') ? 1 : 0) +
    (box.top < 200 ? 1 : 0) -
    (/sponsor|partner|client|customer|payment/i.test(`${own} ${around}`) ? 3 : 0)
  )
}

/** Returns the logo in the page's structured data. */
function linkedLogo(): string | undefined {
  for (const script of document.querySelectorAll('script[type="application/ld+json"]')) {
    const [, found] =
      /"logo"\s*:\s*(?:"([^"]+)"|\{[^}]*"url"\s*:\s*"([^"]+)")/.exec(script.textContent ?? '')?.filter(Boolean) ?? []
    if (found && URL.canParse(found, document.baseURI)) return new URL(found, document.baseURI).href
  }
  return undefined
}

function urlOf(selector: string, attribute: string): string | undefined {
  const value = document.querySelector(selector)?.getAttribute(attribute)
  return value && URL.canParse(value, document.baseURI) ? new URL(value, document.baseURI).href : undefined
}

function brandName(): string | undefined {
  const site = document
    .querySelector<HTMLMetaElement>('meta[property="og:site_name"], meta[name="application-name"]')
    ?.content.trim()
  if (site) return site
  for (const script of document.querySelectorAll('script[type="application/ld+json"]')) {
    const [, name] =
      /"@type"\s*:\s*"(?:Organization|Corporation|WebSite|LocalBusiness|Brand)"[^{}]*?"name"\s*:\s*"([^"]+)"/.exec(
        script.textContent ?? '',
      ) ?? []
    if (name) return name
  }
  return undefined
}

function components(): Record<string, unknown> {
  const all = buttons().map((element) => ({ element, facts: buttonFacts(element) }))
  const filled = all.filter(({ facts }) => facts.background !== undefined)
  const primary = filled.find(({ facts }) => !isNeutral(parseColour(facts.background!)!)) ?? filled[0]
  const secondary = all.find(({ facts }) => primary && facts.background !== primary.facts.background)
  const input = [...document.querySelectorAll('input:not([type="hidden"]), textarea, select')].find(
    (element) => isVisible(element) && !element.matches(actionable),
  )
  return present({
    buttonPrimary: primary?.facts,
    buttonSecondary: secondary?.facts,
    input: input && buttonFacts(input),
  })
}

function spacing(button: Button | undefined): Record<string, unknown> {
  const lengths = new Votes()
  for (const element of [...document.querySelectorAll('section, article, main, div, p, h1, h2, ul')].slice(0, 400)) {
    const style = styleOf(element)
    for (const length of [style.paddingTop, style.marginBottom, style.paddingLeft]) {
      const size = Number.parseFloat(length)
      if (size >= 4 && size <= 96 && Number.isInteger(size)) lengths.add(String(size), 1)
    }
  }
  const sizes = lengths.ranked().slice(0, 6).map(Number)
  const unit = sizes.length >= 3 ? [8, 5, 4].find((size) => sizes.every((length) => length % size === 0)) : undefined
  return present({ baseUnit: unit, borderRadius: button?.borderRadius })
}

function present<T extends Record<string, unknown>>(facts: T): Record<string, never> & T {
  const entries = Object.entries(facts).filter(
    ([, value]) =>
      value !== undefined &&
      value !== '' &&
      !(typeof value === 'object' && value !== null && Object.keys(value).length === 0),
  )
  return Object.fromEntries(entries) as Record<string, never> & T
}

export function read(): Record<string, unknown> {
  const page = backgroundOf(document.body) ?? { red: 255, green: 255, blue: 255, alpha: 1 }
  const favicon = urlOf('link[rel~="icon" i]', 'href') ?? urlOf('link[rel="apple-touch-icon" i]', 'href')
  const image = urlOf('meta[property="og:image"]', 'content')
  const mark = logo()
  const parts = components()
  return present({
    colorScheme: contrast(page, { red: 255, green: 255, blue: 255, alpha: 1 }) > 4.5 ? 'dark' : 'light',
    brandName: brandName(),
    logo: mark,
    favicon,
    colors: colours(page),
    ...typography(),
    spacing: spacing(parts['buttonPrimary'] as Button | undefined),
    components: parts,
    images: present({ logo: mark, favicon, ogImage: image }),
  })
}
