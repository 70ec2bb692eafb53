/** Reads the content of a page from its structured data, for pages whose HTML has almost no text. */
import { nodesFromHtml } from '../html-tree.ts'
import { type Entity, entitiesOf } from '../structured/linked-data.ts'
import { type ElementNode, type TreeNode } from '../tree.ts'
import { measureText } from './features/text-measure.ts'

/** Types of entities that are the subject of a page, and the fields with their text, in reading order. */
const subjects: readonly (readonly [RegExp, readonly string[]])[] = [
  [/article$|^blogposting$|^report$|^socialmediaposting$/, ['description', 'articleBody', 'text']],
  [/^discussionforumposting$|^question$/, ['text', 'articleBody', 'acceptedAnswer', 'suggestedAnswer', 'comment']],
  [/^qapage$|^faqpage$/, ['mainEntity']],
  [/^recipe$/, ['description', 'recipeIngredient', 'recipeInstructions']],
  [/^product$|^productgroup$|^softwareapplication$|^book$|^movie$|^course$|^event$|^jobposting$/, ['description']],
]
/** Fields of entities inside a subject: an answer, a step, a comment. */
const partFields = ['name', 'author', 'text', 'acceptedAnswer', 'suggestedAnswer', 'comment', 'itemListElement']
/** Whether a text contains tags or entities. */
const isMarkup = (text: string): boolean => /<\/?[a-z][^<>]{0,9999}>|&\w{1,32};/i.test(text)

const maxParts = 2000
const maxDepth = 6

/** Returns an `<html>` element with the content in structured data, and its words; undefined when there is none. */
export function structuredDataContent(root: ElementNode): { root: ElementNode; words: number } | undefined {
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
  readonly #seen = new Set<string>()

  subject(fields: Entity['fields'], names: readonly string[]): void {
    const title = fields['headline'] ?? fields['name'] ?? fields['title']
    const before = this.words
    if (typeof title === 'string') this.#text(title, 'h1')
    const own = this.words
    for (const name of names) this.#value(fields[name], name === 'recipeIngredient' ? 'li' : 'p', 0)
    // A title alone is not content.
    if (this.words === own && own > before) {
      this.nodes.pop()
      this.words = before
    }
  }

  #value(value: unknown, tag: string, depth: number): void {
    if (depth > maxDepth || this.nodes.length > maxParts) return
    if (typeof value === 'string') this.#text(value, tag)
    else if (Array.isArray(value)) for (const item of value) this.#value(item, tag, depth + 1)
    else if (typeof value === 'object' && value !== null) {
      const fields = value as Record<string, unknown>
      for (const name of partFields) this.#value(fields[name], name === 'name' ? 'h3' : 'p', depth + 1)
    }
  }

  #text(text: string, tag: string): void {
    const plain = text.trim()
    if (plain === '' || this.#seen.has(plain)) return
    this.#seen.add(plain)
    this.words += measureText(plain).words
    if (isMarkup(plain)) this.nodes.push(element('div', nodesFromHtml(plain, '')))
    else
      for (const line of plain.split('\n'))
        if (line.trim() !== '') this.nodes.push(element(tag, [{ text: line.trim() }]))
  }
}
