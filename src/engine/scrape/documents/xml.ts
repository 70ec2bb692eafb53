/** Converts XML to documents: feeds to their articles, everything else to source code. */
import { DomHandler, getFeed, Parser } from 'htmlparser2'
import { nodesFromHtml } from '../../extract/html-tree.ts'
import {
  codeDocument,
  type SourceText,
  element,
  elementAround,
  fileName,
  type PageDocument,
  present,
  treeOf,
} from './document.ts'

/** Length of the beginning that contains the type and language of a feed, in characters. */
const headChars = 4096

/** Maximum nesting of a feed, because every entry is searched in all enclosing entries. */
const maxLevels = 48

type Feed = NonNullable<ReturnType<typeof getFeed>>

export function xmlDocument(source: SourceText): PageDocument {
  const { text, charset, url } = source
  const feed = /<(?:rss|rdf:RDF|feed)[\s>]/i.test(text.slice(0, headChars)) ? feedOf(text) : null
  return feed ? { ...feedDocument(feed, text, url), raw: text, charset } : codeDocument(source, 'xml')
}

/** Parses a feed; null for other XML, or deeper nesting than any feed has. */
function feedOf(text: string): Feed | null {
  const handler = new DomHandler()
  let levels = 0
  let isDeep = false
  const parser = new Parser(handler, { xmlMode: true })
  const { onopentag, onclosetag } = DomHandler.prototype
  handler.onopentag = (name, attributes) => {
    onopentag.call(handler, name, attributes)
    if (++levels <= maxLevels) return
    isDeep = true
    parser.pause()
  }
  handler.onclosetag = () => {
    levels--
    onclosetag.call(handler)
  }
  parser.write(text)
  if (isDeep) return null
  parser.end()
  return getFeed(handler.dom)
}

function feedDocument(feed: Feed, text: string, url: string): Omit<PageDocument, 'raw' | 'charset'> {
  const title = feed.title?.trim() || fileName(url)
  const head = text.slice(0, headChars)
  const language = /<(?:dc:)?language>\s*([\w-]+)/.exec(head)?.[1] ?? /<feed[^>]*\sxml:lang="([\w-]+)"/.exec(head)?.[1]
  const description = feed.description?.trim()
  return {
    tree: treeOf(url, title, [
      element('h1', {}, title),
      ...(description ? [elementAround('p', nodesFromHtml(description, url))] : []),
      ...feed.items.map((item) => entry(item, url)),
    ]),
    title,
    isPage: false,
    ...present({ description, language, modified: isoTime(feed.updated) }),
  }
}

const isoTime = (date: Date | undefined): string | undefined =>
  date && !Number.isNaN(date.getTime()) ? date.toISOString() : undefined

function entry({ title, link, pubDate, description }: Feed['items'][number], url: string) {
  const name = title?.trim() || link || 'Untitled'
  const time = isoTime(pubDate)
  return element(
    'article',
    {},
    element('h2', {}, link ? element('a', { href: link.trim() }, name) : name),
    ...(time ? [element('p', {}, element('time', { datetime: time }, time))] : []),
    ...(description?.trim() ? [elementAround('div', nodesFromHtml(description, url))] : []),
  )
}
