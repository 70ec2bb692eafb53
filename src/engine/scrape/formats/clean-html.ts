/** Converts a tree to HTML without scripts, styles, templates, event handlers and comments. */
import { resolveUrl } from '../../extract/urls.ts'
import { type ElementNode, isElement, type Tree, type TreeNode, wordSet } from '../../extract/tree.ts'

const dropped = new Set(['script', 'style', 'noscript', 'template', 'base'])
const empty = wordSet('area base br col embed hr img input link meta param source track wbr')
const breakless = wordSet('pre listing textarea')
const urlAttributes = new Set(['href', 'src', 'poster', 'action', 'cite', 'formaction', 'data'])
const stylesheet = /\b(?:stylesheet|preload|prefetch|modulepreload|preconnect|dns-prefetch)\b/i

/** Returns the HTML of a tree; URLs become absolute, so that it can be used anywhere. Images with `data:` are optional. */
export function cleanHtml({ root, baseUrl }: Tree, { dropInlineImages }: { dropInlineImages: boolean }): string {
  const elementHtml = (element: ElementNode): string => {
    const { tag } = element
    const open = `<${tag}${attributesHtml(element)}>`
    if (empty.has(tag)) return open
    const [first] = element.children
    // Parsers ignore the first line break of these elements.
    let inner = first && !isElement(first) && first.text.startsWith('\n') && breakless.has(tag) ? '\n' : ''
    for (const child of element.children) inner += nodeHtml(child)
    return `${open}${inner}</${tag}>`
  }
  const nodeHtml = (node: TreeNode): string => {
    if (!isElement(node)) return escapeHtml(node.text)
    if (dropped.has(node.tag) || !/^[a-z][\w:.-]*$/i.test(node.tag)) return ''
    if (node.tag === 'link' && stylesheet.test(node.attributes['rel'] ?? '')) return ''
    if (dropInlineImages && node.tag === 'img' && isInline(node.attributes['src']) && !hasOther(node)) return ''
    return elementHtml(node)
  }
  const attributesHtml = ({ tag, attributes }: ElementNode): string => {
    let text = ''
    for (const [name, value] of Object.entries(attributes)) {
      if (/^on/i.test(name) || name === 'srcdoc' || name === 'nonce' || !/^[^\s"'<>/=]+$/.test(name)) continue
      if (dropInlineImages && /^(?:src|srcset|poster|style)$/.test(name) && /data:image\//i.test(value)) continue
      const kept = urlAttributes.has(name) ? resolved(tag, name, value, baseUrl) : value
      if (kept !== undefined) text += ` ${name}="${escapeHtml(kept).replaceAll('"', '&quot;')}"`
    }
    return text
  }
  return root.tag === 'html' ? `<!DOCTYPE html>${elementHtml(root)}` : elementHtml(root)
}

function resolved(tag: string, name: string, value: string, base: string): string | undefined {
  if (tag === 'a' && name === 'href' && value.startsWith('#')) return value
  const url = resolveUrl(value, base)
  if (url === undefined) return value
  return /^(?:javascript|vbscript):/i.test(url) ? undefined : url
}

const isInline = (source: string | undefined): boolean => /^\s*data:/i.test(source ?? '')

const hasOther = ({ attributes }: ElementNode): boolean =>
  Object.entries(attributes).some(
    ([name, value]) => /^(?:srcset|data-src|data-srcset|data-original|data-lazy-src)$/.test(name) && !isInline(value),
  )

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
