/** Finds labels and their values: in definition lists, tables, `Label: value` lines, headings, metadata. */
import { decodeUrlPart } from '../../../core/net/urls.ts'
import { linkUrl, imageUrl } from '../urls.ts'
import {
  attribute,
  childElements,
  classes,
  type ElementNode,
  isElement,
  isPhrasing,
  isSilent,
  visibleText,
  wordSet,
} from '../tree.ts'
import { emailIn } from './coerce.ts'
import type { Entity } from './linked-data.ts'
import { synonymOf, wordsOf } from './words.ts'

export interface Pair {
  readonly label: string
  readonly words: readonly string[]
  readonly text: string
  /** URL of the value, when it is a link or an image. */
  readonly url?: string
  /** The record or list itself, when the value is not only text. */
  readonly data?: unknown
  /** All values of the label, when it has several. */
  readonly all?: readonly string[]
  /** Reliability of this kind of source, from 0 to 1. */
  readonly rank: number
  /** Whether it is from a cell of a table with named columns. */
  readonly isCell?: boolean
}

const maxLabelLength = 60
const maxTextLength = 4000
const maxPairs = 5000
/** Meanings of class names that describe the content of their element. */
const descriptive = wordSet(
  'title description price currency author date image rating availability brand company tag category color sku phone email address position salary city size location',
)

export class Pairs {
  readonly list: Pair[] = []
  readonly #baseUrl: string
  readonly #tables: ReadonlySet<ElementNode>
  #isCell = false

  /** @param tables - Tables with named columns. */
  constructor(baseUrl: string, tables: ReadonlySet<ElementNode> = new Set()) {
    this.#baseUrl = baseUrl
    this.#tables = tables
  }

  add(label: string, text: string, rank: number, more: Pick<Pair, 'url' | 'data' | 'all'> = {}): void {
    const value = text.trim().slice(0, maxTextLength)
    const name = withoutColon(label.trim())
    if (name === '' || name.length > maxLabelLength || (value === '' && more.data === undefined)) return
    if (this.list.length >= maxPairs) return
    this.list.push({
      label: name,
      words: wordsOf(name),
      text: value,
      rank,
      ...more,
      ...(this.#isCell && { isCell: true }),
    })
  }

  /** Adds the pairs of an element's descendants. */
  gather(element: ElementNode): void {
    for (const child of element.children) {
      if (!isElement(child)) continue
      if (isSilent(child)) {
        if (child.tag === 'head') this.#head(child)
        continue
      }
      const isCell = this.#isCell
      this.#isCell ||= this.#tables.has(child)
      this.#element(child)
      this.gather(child)
      this.#isCell = isCell
    }
  }

  /** Adds the fields of an entity; those of nested entities with both names. */
  entity({ fields }: Entity, rank: number, prefix = '', depth = 0): void {
    if (depth > 4) return
    for (const [name, value] of Object.entries(fields)) {
      const label = prefix === '' ? name : `${prefix} ${name}`
      for (const item of Array.isArray(value) ? value.slice(0, 20) : [value]) this.#field(label, item, rank, depth)
      if (Array.isArray(value)) this.add(label, '', rank, { data: value })
    }
  }

  #field(label: string, value: unknown, rank: number, depth: number): void {
    if (value === null || value === undefined) return
    if (typeof value !== 'object') {
      const text = String(value)
      const url = /^(?:https?:)?\/\//.test(text) ? linkUrl(text, this.#baseUrl) : undefined
      return this.add(label, text.replace(/^https?:\/\/schema\.org\//, ''), rank, url ? { url } : {})
    }
    const fields = value as Record<string, unknown>
    const name = fields['name'] ?? fields['url']
    this.add(label, typeof name === 'string' ? name : '', rank, { data: value })
    this.entity({ types: [], fields }, rank * 0.97, label, depth + 1)
  }

  #head(head: ElementNode): void {
    for (const child of childElements(head)) {
      const content = attribute(child, 'content')
      const name = attribute(child, 'property') || attribute(child, 'name') || attribute(child, 'itemprop')
      if (child.tag === 'title') this.add('title', visibleTitle(child), 0.6)
      else if (child.tag === 'meta' && name !== '') this.#meta(name, content)
      else if (child.tag === 'link' && attribute(child, 'rel') === 'canonical') {
        this.add('url', attribute(child, 'href'), 0.8, this.#to(attribute(child, 'href')))
      }
    }
  }

  #meta(name: string, content: string): void {
    if (
      /^(?:viewport|robots|generator|theme-color|csrf|google|msapplication|fb:|referrer|format-detection|twitter:(?:card|site))/i.test(
        name,
      )
    )
      return
    const label = name.replace(/^(?:og|twitter|article|product|book|profile|dc|dcterms|music|video|business):?\.?/i, '')
    const points = /^(?:https?:)?\/\//.test(content) || /(?:image|url|logo)$/i.test(label)
    this.add(label.replaceAll(/[:.]/g, ' '), content, 0.72, points ? this.#to(content) : {})
  }

  #to(href: string): Pick<Pair, 'url'> {
    const url = linkUrl(href, this.#baseUrl)
    return url === undefined ? {} : { url }
  }

  #element(element: ElementNode): void {
    const { tag, attributes } = element
    this.#named(element)
    switch (tag) {
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
        this.add('title', textOf(element), tag === 'h1' ? 0.85 : 0.65 - Number(tag[1]) / 50)
        break
      case 'dl':
        return this.#definitions(element)
      case 'tr':
        return this.#row(element)
      case 'a':
        return this.#link(element)
      case 'img':
        return this.#image(element)
      case 'time':
        this.add('date', attributes['datetime'] ?? visibleText(element), 0.62)
        break
      case 'address':
        this.add('address', visibleText(element), 0.7)
        break
    }
    if (!/^(?:ul|ol|table|tbody|body|html)$/.test(tag)) this.#line(element)
  }

  /** Adds values named by class names, microdata or microformats. */
  #named(element: ElementNode): void {
    const { attributes } = element
    const property = attributes['itemprop'] ?? attributes['property']
    const own = [...classes(element), ...['id', 'data-testid', 'data-test'].map((name) => attribute(element, name))]
    const text = property === undefined && own.join('') === '' ? '' : visibleText(element, 1000)
    if (text === '' && property === undefined) return
    const link = element.tag === 'a' ? this.#to(attribute(element, 'href')) : {}
    if (property !== undefined) this.add(property.replace(/^.*[:/#]/, ''), attributes['content'] ?? text, 0.88, link)
    if (text.length > 300) return
    for (const name of own) {
      const words = wordsOf(name.replace(/^(?:p|u|dt|e)-/, '')).slice(-3)
      if (words.some((word) => descriptive.has(synonymOf(word)))) this.add(words.join(' '), text, 0.6, link)
    }
  }

  #definitions(list: ElementNode): void {
    const groups: { term: string; definitions: ElementNode[] }[] = []
    const read = (parent: ElementNode): void => {
      for (const child of childElements(parent)) {
        if (child.tag === 'dt') groups.push({ term: textOf(child), definitions: [] })
        else if (child.tag === 'dd') groups.at(-1)?.definitions.push(child)
        else if (child.tag === 'div') read(child)
      }
    }
    read(list)
    for (const { term, definitions } of groups) {
      const texts = definitions.map(textOf).filter((text) => text !== '')
      const all = texts.length > 1 ? { all: texts } : {}
      for (const definition of definitions)
        this.add(term, textOf(definition), 0.82, { ...this.#firstLink(definition), ...all })
    }
  }

  #row(row: ElementNode): void {
    const [name, value, ...others] = childElements(row).filter(({ tag }) => tag === 'td' || tag === 'th')
    if (!name || !value || others.length > 0 || value.tag === 'th') return
    this.add(textOf(name), textOf(value), name.tag === 'th' ? 0.82 : 0.7, this.#firstLink(value))
  }

  #link(link: ElementNode): void {
    const href = attribute(link, 'href').trim()
    const text = visibleText(link, 300)
    if (/^tel:/i.test(href)) this.add('phone', decodeUrlPart(withoutQuery(href.slice(4))), 0.84)
    else if (/^mailto:/i.test(href)) this.add('email', emailIn(decodeUrlPart(withoutQuery(href))) ?? '', 0.84)
    else if (text !== '') {
      const to = this.#to(href)
      if (to.url === undefined) return
      this.add(attribute(link, 'rel') === 'author' ? 'author' : text, text, 0.5, to)
    }
  }

  #image(image: ElementNode): void {
    const url = imageUrl(image, this.#baseUrl)
    if (url !== undefined) this.add('image', url, 0.45, { url })
  }

  #firstLink(element: ElementNode): Pick<Pair, 'url'> {
    const [only] = childElements(element)
    return only?.tag === 'a' ? this.#to(attribute(only, 'href')) : {}
  }

  /** Adds `<b>Label:</b> value`, `Label: value`, or two elements of which the first names the second. */
  #line(element: ElementNode): void {
    const children = childElements(element).filter((child) => !isSilent(child) && child.tag !== 'br')
    if (children.length > 4) return
    const [first, second] = children
    const bare = element.children.every((child) => isElement(child) || child.text.trim() === '')
    if (first && second && children.length === 2 && bare) {
      const labelled =
        /label|term|key|name|caption|title|heading|field/i.test(attribute(first, 'class')) ||
        (/^(?:dt|th|label|strong|b)$/.test(first.tag) && first.tag !== second.tag)
      const label = labelled || /value|data|content/i.test(attribute(second, 'class')) ? visibleText(first, 100) : ''
      if (label !== '' && label.length <= maxLabelLength && isLeafy(first)) {
        return this.add(
          label,
          visibleText(second, maxTextLength),
          0.7,
          second.tag === 'a' ? this.#to(attribute(second, 'href')) : this.#firstLink(second),
        )
      }
    }
    if (children.some((child) => !isLeafy(child) || !isPhrasing(child))) return
    const text = visibleText(element, 600)
    const found = /^([\p{L}][^:：\n]{1,40}?)\s*[:：]\s+(\S.{0,500})$/su.exec(text)
    if (found) this.add(found[1]!, found[2]!, 0.68, children.length === 1 ? this.#firstLink(element) : {})
  }
}

const visibleTitle = (title: ElementNode): string =>
  visibleText({ tag: 'span', attributes: {}, children: title.children })

/** Returns the text of an element, limited in length; `add` shortens it further. */
const textOf = (element: ElementNode): string => visibleText(element, 5 * maxTextLength)

const withoutColon = (label: string): string => (/[:：]$/.test(label) ? label.slice(0, -1).trimEnd() : label)

const isLeafy = (element: ElementNode): boolean =>
  childElements(element).every((child) => childElements(child).length === 0)

const withoutQuery = (text: string): string => text.replace(/\?.*$/, '')
