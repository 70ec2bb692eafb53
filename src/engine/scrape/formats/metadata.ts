/** Reads the metadata of a page: title, description, author, times, Open Graph. */
import type { ScrapeMetadata } from '../../../core/shapes/scrape.ts'
import { resolveUrl } from '../../extract/urls.ts'
import { hasRelation } from '../header-links.ts'
import { present } from '../documents/document.ts'
import { attribute, collapse, elementsOf, type ElementNode, rawText, type Tree } from '../../extract/tree.ts'
import { squeeze } from '../../../core/text/pieces.ts'

type Facts = Partial<ScrapeMetadata>

const openGraph: Record<string, keyof Facts> = {
  'og:title': 'ogTitle',
  'og:description': 'ogDescription',
  'og:image': 'ogImage',
  'og:url': 'ogUrl',
  'og:type': 'ogType',
  'og:site_name': 'ogSiteName',
  'og:locale': 'ogLocale',
}

const descriptions = ['description', 'og:description', 'twitter:description', 'dc.description', 'dcterms.description']
const authors = [
  'author',
  'article:author',
  'dc.creator',
  'dcterms.creator',
  'parsely-author',
  'sailthru.author',
  'byl',
  'citation_author',
]
const published = [
  'article:published_time',
  'og:published_time',
  'datepublished',
  'date',
  'dc.date',
  'dcterms.created',
  'dc.date.issued',
  'parsely-pub-date',
  'sailthru.date',
  'publishdate',
  'pubdate',
  'citation_publication_date',
]
const modified = [
  'article:modified_time',
  'og:updated_time',
  'datemodified',
  'last-modified',
  'dcterms.modified',
  'revised',
]

/** Returns the metadata in the page; the caller adds those of the response, such as status and content type. */
export function metadataOf(tree: Tree): Facts {
  const page = readPage(tree)
  const data = linkedData(page.scripts)
  const meta = (names: readonly string[]) => names.map((name) => page.meta.get(name)).find(Boolean)
  const absolute = (address: string | undefined) => (address ? resolveUrl(address, tree.baseUrl) : undefined)
  const author = meta(authors.filter((name) => !/^https?:/.test(page.meta.get(name) ?? '')))
  const og = Object.entries(openGraph).map(([name, key]) => {
    const value = page.meta.get(name)
    return [key, key === 'ogImage' || key === 'ogUrl' ? absolute(value) : value] as const
  })
  return present({
    title: page.title || meta(['og:title', 'twitter:title', 'dc.title']) || data.headline || page.heading,
    description: meta(descriptions) ?? data.description,
    language: page.language || meta(['content-language', 'language']) || page.meta.get('og:locale')?.replace('_', '-'),
    author: author ?? data.author ?? page.author,
    published_time: meta(published) ?? data.published ?? page.published,
    modified_time: meta(modified) ?? data.modified,
    canonical: absolute(page.links.get('canonical')),
    favicon: absolute(page.links.get('icon') ?? page.links.get('apple-touch-icon')),
    robots: meta(['robots']),
    licenses: page.licenses.size > 0 ? [...page.licenses] : undefined,
    ...Object.fromEntries(og),
  })
}

function readPage({ root, baseUrl }: Tree) {
  let title = ''
  let heading: string | undefined
  let author: string | undefined
  let published: string | undefined
  const meta = new Map<string, string>()
  const links = new Map<string, string>()
  const licenses = new Set<string>()
  const scripts: string[] = []
  for (const element of elementsOf(root, ({ tag }) => tag !== 'svg' && tag !== 'template' && tag !== 'noscript')) {
    const { tag } = element
    if (tag === 'link' || tag === 'a') readLicense(element, baseUrl, licenses)
    if (tag === 'title') title ||= textOf(element)
    else if (tag === 'h1') heading ??= textOf(element) || undefined
    else if (tag === 'meta') readMeta(element, meta)
    else if (tag === 'link') readLink(element, links)
    else if (tag === 'script') {
      if (/ld\+json/i.test(attribute(element, 'type'))) scripts.push(rawText(element))
    } else if (tag === 'time') {
      if ('pubdate' in element.attributes || attribute(element, 'itemprop') === 'datePublished')
        published ??= attribute(element, 'datetime') || undefined
    } else if (author === undefined && isByline(element)) author = shortText(element)
  }
  const language = attribute(root, 'lang') || attribute(root, 'xml:lang')
  return { title, heading, language, author, published, meta, links, licenses, scripts }
}

function readMeta(element: ElementNode, meta: Map<string, string>): void {
  const { attributes } = element
  const name = attributes['name'] ?? attributes['property'] ?? attributes['itemprop'] ?? attributes['http-equiv']
  const content = collapse(attributes['content'] ?? '').trim()
  const key = name?.trim().toLowerCase()
  if (key && content !== '' && !meta.has(key)) meta.set(key, content)
}

/** Number of licenses that are read: pages of pictures have one for each. */
const maxLicenses = 20

function readLicense(element: ElementNode, baseUrl: string, licenses: Set<string>): void {
  if (!hasRelation(attribute(element, 'rel'), 'license') || licenses.size >= maxLicenses) return
  const url = resolveUrl(attribute(element, 'href').trim(), baseUrl)
  if (url) licenses.add(url)
}

function readLink(element: ElementNode, links: Map<string, string>): void {
  const href = attribute(element, 'href').trim()
  if (href === '' || /^data:/i.test(href)) return
  for (const rel of attribute(element, 'rel').toLowerCase().split(/\s/))
    if (rel && !links.has(rel)) links.set(rel, href)
}

const isByline = ({ attributes }: ElementNode): boolean =>
  attributes['rel'] === 'author' || attributes['itemprop'] === 'author'

function shortText(element: ElementNode): string | undefined {
  const text = textOf(element)
  return text !== '' && text.length <= 100 ? text : undefined
}

const textOf = (element: ElementNode): string => collapse(rawText(element)).trim()

type Thing = Record<string, unknown>

const described = /Article|Posting|Product|Recipe|Event|Course|Book|Movie|Report|Page|Question|Video|Podcast/

function linkedData(scripts: readonly string[]) {
  const things = scripts.flatMap(readThings)
  const thing =
    things.find(
      (item) => described.test(String(item['@type'] ?? '')) && !/WebPage|BreadcrumbList/.test(String(item['@type'])),
    ) ?? things[0]
  return {
    headline: lineOf(thing?.['headline'] ?? thing?.['name']),
    description: lineOf(thing?.['description']),
    author: nameOf(thing?.['author'] ?? thing?.['creator']),
    published: lineOf(thing?.['datePublished']),
    modified: lineOf(thing?.['dateModified']),
  }
}

function readThings(script: string): Thing[] {
  try {
    return flatten(JSON.parse(script.trim().replace(/^<!\[CDATA\[|\]\]>$/g, '')))
  } catch {
    // Invalid JSON-LD is common and ignored.
    return []
  }
}

function flatten(value: unknown): Thing[] {
  if (Array.isArray(value)) return value.flatMap(flatten)
  if (typeof value !== 'object' || value === null) return []
  const thing = value as Thing
  return [thing, ...flatten(thing['@graph'])].filter((item) => item['@type'] !== undefined)
}

const lineOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? squeeze(value) : undefined

function nameOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(nameOf).filter(Boolean).join(', ') || undefined
  return lineOf(typeof value === 'object' && value !== null ? (value as Thing)['name'] : value)
}
