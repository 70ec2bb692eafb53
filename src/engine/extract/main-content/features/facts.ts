/** Metadata of a page: title, description, structured data, URL, the content management system that generated it. */
import { attribute, type ElementNode, isElement, rawText } from '../../tree.ts'
import { leadingWords } from './text-measure.ts'
import { parseUrl } from '../../../../core/net/parse-url.ts'

/** Kinds of structured data and of og:type that distinguish kinds of pages. */
export const dataTypes: readonly (readonly [string, RegExp])[] = [
  ['article', /^(?:article|newsarticle|blogposting|reportagenewsarticle|scholarlyarticle|report|recipe|review)$/],
  ['technical', /^(?:techarticle|apireference|softwaresourcecode|howto|course)$/],
  ['product', /^(?:product|productgroup|offer|aggregateoffer|og:product|softwareapplication)$/],
  ['list', /^(?:itemlist|collectionpage|offercatalog|searchresultspage|product.group)$/],
  ['discussion', /^(?:discussionforumposting|qapage|question|comment|answer|socialmediaposting)$/],
  ['business', /^(?:service|localbusiness|professionalservice|faqpage|event|place|aboutpage|contactpage)$/],
  ['video', /^(?:videoobject|movie|tvseries|podcastepisode|podcastseries)$/],
]

const systems = [
  /discourse/i,
  /xenforo|vbulletin|phpbb|mybb|flarum|vanilla|invision|simple machines|smf/i,
  /wordpress/i,
  /docusaurus|sphinx|mkdocs|gitbook|hugo|jekyll|vuepress|vitepress|readthedocs|mediawiki|dokuwiki/i,
  /shopify|magento|woocommerce|bigcommerce|prestashop/i,
  /wix|squarespace|webflow|elementor|framer/i,
]
export const systemCount = systems.length

const dataLimit = 400_000
const textFields = new Set([
  'articleBody',
  'description',
  'text',
  'reviewBody',
  'headline',
  'name',
  'recipeInstructions',
])

/** Facts of a whole document, read from its tree. */
export class PageFacts {
  /** Words of the title elements and title properties. */
  readonly titleWords: ReadonlySet<string>
  readonly descriptionWords: ReadonlySet<string>
  /** Runs of three words from texts of the structured data: article bodies, descriptions, comments. */
  readonly dataRuns = new Set<string>()
  /** The runs among these from the page's subject (a product's description, an article's body), and its word count. */
  readonly subjectRuns = new Set<string>()
  subjectWords = 0
  /** The runs among these from reviews, comments and answers. */
  readonly voiceRuns = new Set<string>()
  /** Bits by `dataTypes`. */
  types = 0
  /** Bits by `systems`. */
  systems = 0
  scripts = 0
  readonly path: readonly string[] = []
  readonly hasQuery: boolean = false
  private title = ''
  private description = ''
  private budget = dataLimit

  constructor(root: ElementNode, url: string | undefined) {
    this.read(root)
    this.titleWords = new Set(leadingWords(this.title, 60))
    this.descriptionWords = new Set(leadingWords(this.description, 120))
    const parsed = url !== undefined && /^https?:/i.test(url) ? parseUrl(url) : undefined
    if (!parsed) return
    const { pathname, search } = parsed
    this.path = pathname.split('/').filter(Boolean)
    this.hasQuery = search.length > 1
  }

  private read(element: ElementNode): void {
    const { tag } = element
    if (tag === 'meta') this.meta(element)
    else if (tag === 'title' && this.title.length < 400) this.title += ` ${rawText(element)}`
    else if (tag === 'script') this.script(element)
    else if (tag === 'html' || tag === 'body')
      this.system(`${attribute(element, 'id')} ${attribute(element, 'class').slice(0, 400)}`)
    if (tag !== 'svg') for (const child of element.children) if (isElement(child)) this.read(child)
  }

  private meta(element: ElementNode): void {
    const name = (element.attributes['property'] ?? element.attributes['name'] ?? '').toLowerCase()
    const content = attribute(element, 'content')
    if (name === 'og:title' || name === 'twitter:title') this.title += ` ${content}`
    else if (name === 'description' || name === 'og:description') this.description += ` ${content}`
    else if (name === 'generator') this.system(content)
    else if (name === 'og:type') this.type(content)
  }

  private script(element: ElementNode): void {
    if (!/^application\/ld\+json/i.test(attribute(element, 'type'))) {
      this.scripts++
      const source = attribute(element, 'src')
      if (/cdn\.shopify|wp-content|static\.wix|squarespace|webflow/i.test(source)) this.system(source)
      return
    }
    const text = rawText(element)
    if (text.length > this.budget) return
    this.budget -= text.length
    let data: unknown
    try {
      data = JSON.parse(text)
    } catch {
      // Invalid structured data is common and ignored.
      return
    }
    this.data(data, 0, 'other')
  }

  private data(value: unknown, depth: number, around: Role): void {
    if (depth > 12 || typeof value !== 'object' || value === null) return
    const role = Array.isArray(value) ? around : roleOf((value as Record<string, unknown>)['@type'], around)
    for (const [key, item] of Object.entries(value)) {
      if (key === '@type') for (const type of [item].flat()) this.type(String(type))
      if (typeof item !== 'string')
        this.data(item, depth + 1, voices.test(key) ? 'voice' : asides.test(key) ? 'aside' : role)
      else if (textFields.has(key) && item.length > 12) this.text(item, role)
    }
  }

  private text(text: string, role: Role): void {
    const words = leadingWords(text.includes('<') ? text.replaceAll(/<[^>]{0,500}>/g, ' ') : text, maxRunWords)
    addRuns(this.dataRuns, words)
    if (role === 'voice') addRuns(this.voiceRuns, words)
    if (role !== 'subject') return
    const known = this.subjectRuns.size
    addRuns(this.subjectRuns, words)
    if (this.subjectRuns.size > known) this.subjectWords += words.length
  }

  private type(name: string): void {
    const plain = name.toLowerCase()
    for (const [index, [, pattern]] of dataTypes.entries()) if (pattern.test(plain)) this.types |= 1 << index
  }

  private system(text: string): void {
    for (const [index, pattern] of systems.entries()) if (pattern.test(text)) this.systems |= 1 << index
  }
}

/** The relation of a text of the structured data to the page. */
type Role = 'subject' | 'voice' | 'aside' | 'other'

const subjects =
  /^(?:product|productgroup|softwareapplication|book|movie|course|event|jobposting|recipe|question|\w*article|blogposting|report|discussionforumposting|socialmediaposting|service)$/
const voices = /^(?:reviews?|comments?|suggestedAnswer|acceptedAnswer)$/
const voiceTypes = /^(?:review|comment|answer)$/
const asides = /^(?:isRelatedTo|isSimilarTo|relatedLink|breadcrumb|publisher|brand|manufacturer|seller)$/

function roleOf(type: unknown, around: Role): Role {
  if (around === 'voice' || around === 'aside') return around
  const names = [type ?? []].flat().map((name) => String(name).toLowerCase())
  if (names.includes('faqpage')) return 'aside'
  if (names.some((name) => voiceTypes.test(name))) return 'voice'
  if (names.some((name) => subjects.test(name))) return 'subject'
  return names.length === 0 ? around : 'other'
}

const runWords = 3
/** Maximum number of words read from a text. */
const maxRunWords = 2000

/** Adds the runs of three words. */
function addRuns(runs: Set<string>, words: readonly string[]): void {
  for (let at = 0; at + runWords <= words.length; at++) runs.add(`${words[at]} ${words[at + 1]} ${words[at + 2]}`)
}

/** Returns the share of the runs of three `words` that occur in `runs`. */
export function sharedRuns(words: readonly string[], runs: ReadonlySet<string>): number {
  if (runs.size === 0 || words.length < runWords) return 0
  let shared = 0
  for (let at = 0; at + runWords <= words.length; at++)
    if (runs.has(`${words[at]} ${words[at + 1]} ${words[at + 2]}`)) shared++
  return shared / (words.length - runWords + 1)
}
