/** Content that a page states for machines alone: what stands in its structured data while its HTML says next to nothing. */
import { treeFromHtml } from '../html-tree.ts'
import { type Entity, entitiesOf } from '../structured/linked-data.ts'
import { type ElementNode, findElement, type TreeNode } from '../tree.ts'
import { measureText } from './features/text-measure.ts'

export interface StatedContent {
  /** An html element. */
  readonly root: ElementNode
  readonly words: number
}

/** Things that are a page's subject, and the fields that hold their text, in reading order. */
const subjects: readonly (readonly [RegExp, readonly string[]])[] = [
  [/article$|^blogposting$|^report$|^socialmediaposting$/, ['description', 'articleBody', 'text']],
  [/^discussionforumposting$|^question$/, ['text', 'articleBody', 'acceptedAnswer', 'suggestedAnswer', 'comment']],
  [/^qapage$|^faqpage$/, ['mainEntity']],
  [/^recipe$/, ['description', 'recipeIngredient', 'recipeInstructions']],
  [/^product$|^productgroup$|^softwareapplication$|^book$|^movie$|^course$|^event$|^jobposting$/, ['description']],
]
/** Fields of what stands inside a subject: an answer, a step, a comment. */
const partFields = ['name', 'author', 'text', 'acceptedAnswer', 'suggestedAnswer', 'comment', 'itemListElement']
const mostParts = 2000
const deepest = 6

/** The content that structured data states; undefined where it states none. */
export function statedContent(root: ElementNode): StatedContent | undefined {
  const writer = new Writer()
  for (const { types, fields } of entitiesOf(root)) {
    const names = subjects.find(([pattern]) => types.some((type) => pattern.test(type)))?.[1]
    if (names) writer.subject(fields, names)
  }
  const { nodes, words } = writer
  return words > 0 ? { root: element('html', [element('body', [element('article', nodes)])]), words } : undefined
}

const element = (tag: string, children: TreeNode[]): ElementNode => ({ tag, attributes: {}, children })

class Writer {
  readonly nodes: TreeNode[] = []
  words = 0
  readonly #said = new Set<string>()

  subject(fields: Entity['fields'], names: readonly string[]): void {
    const title = fields['headline'] ?? fields['name'] ?? fields['title']
    const before = this.words
    if (typeof title === 'string') this.#text(title, 'h1')
    const own = this.words
    for (const name of names) this.#value(fields[name], name === 'recipeIngredient' ? 'li' : 'p', 0)
    // A title alone is no content.
    if (this.words === own && own > before) {
      this.nodes.pop()
      this.words = before
    }
  }

  #value(value: unknown, tag: string, depth: number): void {
    if (depth > deepest || this.nodes.length > mostParts) return
    if (typeof value === 'string') this.#text(value, tag)
    else if (Array.isArray(value)) for (const item of value) this.#value(item, tag, depth + 1)
    else if (typeof value === 'object' && value !== null) {
      const fields = value as Record<string, unknown>
      for (const name of partFields) this.#value(fields[name], name === 'name' ? 'h3' : 'p', depth + 1)
    }
  }

  #text(text: string, tag: string): void {
    const plain = text.trim()
    if (plain === '' || this.#said.has(plain)) return
    this.#said.add(plain)
    this.words += measureText(plain).words
    if (/<\/?[a-z][^>]*>|&\w+;/i.test(plain)) this.nodes.push(element('div', contentOf(plain)))
    else
      for (const line of plain.split(/\n+/))
        if (line.trim() !== '') this.nodes.push(element(tag, [{ text: line.trim() }]))
  }
}

function contentOf(html: string): TreeNode[] {
  const { root } = treeFromHtml(html, '')
  return (findElement(root, ({ tag }) => tag === 'body') ?? root).children
}
