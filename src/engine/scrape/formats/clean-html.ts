/** Converts a tree to HTML without scripts, styles, templates, event handlers and comments. */
import { resolveUrl } from '../../extract/urls.ts'
import { type ElementNode, isElement, type Tree, type TreeNode, wordSet } from '../../extract/tree.ts'

export interface HtmlOptions {
  /** Whether to omit images with `data:` URLs. */
  readonly dropInlineImages: boolean
}

const dropped = new Set(['script', 'style', 'noscript', 'template', 'base'])
const empty = wordSet('area base br col embed hr img input link meta param source track wbr')
const urlAttributes = new Set(['href', 'src', 'poster', 'action', 'cite', 'formaction', 'data'])
const stylesheet = /\b(?:stylesheet|preload|prefetch|modulepreload|preconnect|dns-prefetch)\b/i

/** Returns the HTML of a tree; URLs become absolute, so that it can be used anywhere. */
export function cleanHtml(tree: Tree, options: HtmlOptions): string {
  const writer = new HtmlWriter(tree.baseUrl, options)
  const { root } = tree
  return root.tag === 'html' ? `<!DOCTYPE html>${writer.element(root)}` : writer.element(root)
}

class HtmlWriter {
  readonly #base: string
  readonly #options: HtmlOptions

  constructor(base: string, options: HtmlOptions) {
    this.#base = base
    this.#options = options
  }

  element(element: ElementNode): string {
    const { tag } = element
    const open = `<${tag}${this.#attributes(element)}>`
    if (empty.has(tag)) return open
    let inner = ''
    for (const child of element.children) inner += this.#node(child)
    return `${open}${inner}</${tag}>`
  }

  #node(node: TreeNode): string {
    if (!isElement(node)) return escapeHtml(node.text)
    if (dropped.has(node.tag) || !/^[a-z][\w:.-]*$/i.test(node.tag)) return ''
    if (node.tag === 'link' && stylesheet.test(node.attributes['rel'] ?? '')) return ''
    if (this.#options.dropInlineImages && node.tag === 'img' && isInline(node.attributes['src']) && !hasOther(node)) return '' // prettier-ignore
    return this.element(node)
  }

  #attributes({ tag, attributes }: ElementNode): string {
    let text = ''
    for (const [name, value] of Object.entries(attributes)) {
      if (/^on/i.test(name) || name === 'srcdoc' || name === 'nonce' || !/^[^\s"'<>/=]+$/.test(name)) continue
      if (this.#options.dropInlineImages && /^(?:src|srcset|poster|style)$/.test(name) && /data:image\//i.test(value)) continue // prettier-ignore
      const kept = urlAttributes.has(name) ? this.#resolved(tag, name, value) : value
      if (kept !== undefined) text += ` ${name}="${escapeHtml(kept).replaceAll('"', '&quot;')}"`
    }
    return text
  }

  #resolved(tag: string, name: string, value: string): string | undefined {
    if (tag === 'a' && name === 'href' && value.startsWith('#')) return value
    const url = resolveUrl(value, this.#base)
    if (url === undefined) return value
    return /^(?:javascript|vbscript):/i.test(url) ? undefined : url
  }
}

const isInline = (source: string | undefined): boolean => /^\s*data:/i.test(source ?? '')

const hasOther = ({ attributes }: ElementNode): boolean =>
  Object.entries(attributes).some(([name, value]) => /^(?:srcset|data-src|data-srcset|data-original|data-lazy-src)$/.test(name) && !isInline(value)) // prettier-ignore

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
