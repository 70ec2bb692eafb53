/** Reads Markdown as it is: its front matter becomes metadata, its relative links absolute. */
import { compile, parse as parseBlocks, postprocess, preprocess } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'
import { parse as parseYaml } from 'yaml'
import { BaxError } from '../../../core/errors/errors.ts'
import { isMapping } from '../../../core/text/is-mapping.ts'
import { maxFrontMatter } from '../../../core/text/markdown/markdown-headings.ts'
import { treeFromHtml } from '../../extract/html-tree.ts'
import { collapse, type ElementNode, elementsOf, rawText, type Tree } from '../../extract/tree.ts'
import { resolveUrl } from '../../extract/urls.ts'
import { fileName, type PageDocument, present, type SourceText } from './document.ts'
import { assertCheap, assertShallow } from './markdown-cost.ts'
import { type Edit, edited, inlineImages } from './markdown-edits.ts'
import { textDocument } from './text.ts'

export function markdownDocument({ text, charset, url }: SourceText): PageDocument {
  const { frontMatter, body } = splitFrontMatter(text)
  const facts = frontMatter && { ...factsOf(frontMatter), frontMatter }
  try {
    const { tree, markdown, withoutImages } = readBody(body, url)
    const title = facts?.title ?? headingOf(tree.root) ?? fileName(url)
    const texts = { raw: text, charset, markdown, withoutImages }
    return { tree, ...texts, ...facts, title, isPage: false, sourceFormat: 'markdown' }
  } catch (error) {
    if (!(error instanceof BaxError) || error.code !== 'content_too_large') throw error
    const warning = `the links of the Markdown are missing: ${error.message}`
    const plain = textDocument({ text: body, charset, url })
    return { ...plain, raw: text, ...facts, warning, sourceFormat: 'markdown' }
  }
}

/** Returns the text with absolute links, also without inline images, and its tree. */
function readBody(body: string, url: string): { tree: Tree; markdown: string; withoutImages: string } {
  const options = { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true }
  assertShallow(body)
  const blocks = parseBlocks(options)
    .document()
    .write(preprocess()(body, undefined, true))
  assertCheap(body, blocks)
  const events = postprocess(blocks)
  const links: Edit[] = []
  for (const [kind, token] of events) {
    if (kind !== 'enter' || !destinations.has(token.type)) continue
    // Positions count the characters of the text, except for a byte order mark.
    const [from, to] = [token.start.offset, token.end.offset]
    const target = absoluteTarget(body.slice(from, to), url)
    if (target !== undefined) links.push({ from, to, text: target })
  }
  const markdown = edited(body, links)
  const images = /data:image\//i.test(body) ? inlineImages(body, events) : []
  const withoutImages = images.length > 0 ? edited(body, [...links, ...images]) : markdown
  return { tree: treeFromHtml(compile(options)(events), url), markdown, withoutImages }
}

/** Tokens that contain the URL of a link, an image or a definition. */
const destinations: ReadonlySet<string> = new Set(['resourceDestinationString', 'definitionDestinationString'])

const escaped = /\\([!-/:-@[-`{-~])/g

/** Returns the absolute form of a relative URL; undefined for others, and for fragments of the same page. */
function absoluteTarget(written: string, url: string): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|#|$)/i.test(written)) return undefined
  const target = resolveUrl(written.replaceAll(escaped, '$1').replaceAll('&amp;', '&'), url)
  return target?.replaceAll('(', '%28').replaceAll(')', '%29')
}

/** Splits YAML front matter off; text that only looks like it stays in the body. */
function splitFrontMatter(whole: string): { frontMatter?: Record<string, unknown>; body: string } {
  const text = whole.replace(/^\uFEFF/, '')
  const [block, yaml] =
    /^---[^\S\n]*\r?\n([\s\S]*?)^(?:---|\.\.\.)[^\S\n]*(?:\r?\n|$)/m.exec(text.slice(0, maxFrontMatter)) ?? []
  if (block === undefined || !text.startsWith(block)) return { body: text }
  const frontMatter = mappingIn(yaml!)
  return frontMatter ? { frontMatter, body: withoutBlankLines(text.slice(block.length)) } : { body: text }
}

/** Removes line breaks from the beginning of a text. */
function withoutBlankLines(text: string): string {
  const start = text.search(/[^\r\n]/)
  return start === -1 ? '' : text.slice(start)
}

function mappingIn(yaml: string): Record<string, unknown> | undefined {
  try {
    // Plain data, whatever tags the text has.
    // Checking that keys are unique, and expanding aliases, take longer than the rest.
    const options = { logLevel: 'error', uniqueKeys: false, maxAliasCount: 10 } as const
    const value: unknown = JSON.parse(JSON.stringify(parseYaml(yaml, options) ?? null))
    return isMapping(value) && Object.keys(value).length > 0 ? value : undefined
  } catch {
    // Text between two rules is no front matter.
    return undefined
  }
}

function factsOf(matter: Readonly<Record<string, unknown>>) {
  const text = (...names: string[]) => names.map((name) => lineOf(matter[name])).find((value) => value !== '')
  return present({
    title: text('title'),
    description: text('description', 'summary', 'excerpt'),
    language: text('language', 'lang', 'locale'),
    author: text('author', 'authors', 'by'),
    published: text('published', 'published_time', 'date', 'pubDate', 'publishedAt', 'datePublished'),
    modified: text('modified', 'modified_time', 'updated', 'lastmod', 'last_updated', 'updatedAt', 'dateModified'),
  })
}

/** Returns a value as one line; people and places have names. */
function lineOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(lineOf).filter(Boolean).join(', ')
  if (isMapping(value)) return lineOf(value['name'])
  return typeof value === 'string' || typeof value === 'number' ? collapse(String(value)).trim() : ''
}

/** Returns the text of the first heading of the highest level. */
function headingOf(root: ElementNode): string | undefined {
  const headings = elementsOf(root).filter(({ tag }) => /^h[1-6]$/.test(tag))
  const found = headings.find(({ tag }) => tag === 'h1') ?? headings[0]
  return (found && collapse(rawText(found)).trim()) || undefined
}
