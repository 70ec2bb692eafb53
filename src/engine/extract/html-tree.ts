/** Makes a tree from HTML text. */
import { Parser } from 'htmlparser2'
import { type ElementNode, maxDepth, type Tree } from './tree.ts'
import { resolveUrl } from './address.ts'

/** Reads HTML text (decoded by the caller) that was fetched from `url`; any text gives a tree. */
export function treeFromHtml(html: string, url: string): Tree {
  const rootAttributes: Record<string, string> = {}
  const root: ElementNode = { tag: 'html', attributes: rootAttributes, children: [] }
  const stack: ElementNode[] = [root]
  /** Open elements below the deepest level; their content hangs on the last element of `stack`. */
  let flattened = 0
  let base: string | undefined
  const parser = new Parser(
    {
      onopentag(tag, attributes) {
        if (tag === 'base' && base === undefined && attributes['href'] !== undefined) base = attributes['href']
        if (tag === 'html') return void Object.assign(rootAttributes, attributes)
        const parent = stack.at(-1)!
        if (stack.length > maxDepth) {
          flattened++
          parent.children.push({ tag, attributes, children: [] })
          return
        }
        const element: ElementNode = { tag, attributes, children: [] }
        parent.children.push(element)
        stack.push(element)
      },
      onclosetag(tag) {
        if (tag === 'html') return
        if (flattened > 0) flattened--
        else if (stack.length > 1) stack.pop()
      },
      ontext(text) {
        stack.at(-1)!.children.push({ text })
      },
    },
    { decodeEntities: true, lowerCaseAttributeNames: true },
  )
  parser.end(html)
  return { root, baseUrl: (base === undefined ? undefined : resolveUrl(base, url)) ?? url }
}
