/** XML: feeds as the articles they announce, everything else as it stands. */
import { DomHandler, getFeed, Parser } from 'htmlparser2'
import { treeFromHtml } from '../../extract/html-tree.ts'
import type { TreeNode } from '../../extract/tree.ts'
import { element, elementAround, fenced, fileName, type PageDocument, treeOf } from './document.ts'

interface XmlText {
  readonly text: string
  readonly charset: string
  readonly url: string
}

/** Where a feed says what it is, and in which language. */
const headChars = 4096

/** Levels of a feed: every entry is looked for in all entries around it. */
const mostLevels = 48

type Feed = NonNullable<ReturnType<typeof getFeed>>

export function xmlDocument({ text, charset, url }: XmlText): PageDocument {
  const feed = /<(?:rss|rdf:RDF|feed)[\s>]/i.test(text.slice(0, headChars)) ? feedOf(text) : null
  if (feed) return { ...feedDocument(feed, text, url), raw: text, charset }
  return {
    tree: treeOf(url, fileName(url), [element('pre', {}, element('code', { class: 'language-xml' }, text))]),
    raw: text,
    charset,
    markdown: fenced(text, 'xml'),
    isPage: false,
  }
}

/** The feed, or null for what is none, or nests as none does. */
function feedOf(text: string): Feed | null {
  const handler = new DomHandler()
  let levels = 0
  let isDeep = false
  const parser = new Parser(handler, { xmlMode: true })
  const { onopentag, onclosetag } = DomHandler.prototype
  handler.onopentag = (name, attributes) => {
    onopentag.call(handler, name, attributes)
    if (++levels <= mostLevels) return
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
  const updated = feed.updated && !Number.isNaN(feed.updated.getTime()) ? feed.updated.toISOString() : undefined
  return {
    tree: treeOf(url, title, [
      element('h1', {}, title),
      ...(description ? [elementAround('p', inner(description, url))] : []),
      ...feed.items.map((item) => entry(item, url)),
    ]),
    title,
    isPage: false,
    ...(description && { description }),
    ...(language && { language }),
    ...(updated && { modified: updated }),
  }
}

function entry({ title, link, pubDate, description }: Feed['items'][number], url: string) {
  const name = title?.trim() || link || 'Untitled'
  const time = pubDate && !Number.isNaN(pubDate.getTime()) ? pubDate.toISOString() : undefined
  return element(
    'article',
    {},
    element('h2', {}, link ? element('a', { href: link.trim() }, name) : name),
    ...(time ? [element('p', {}, element('time', { datetime: time }, time))] : []),
    ...(description?.trim() ? [elementAround('div', inner(description, url))] : []),
  )
}

/** Descriptions are HTML in the text of an element. */
const inner = (html: string, url: string): TreeNode[] => treeFromHtml(html, url).root.children
