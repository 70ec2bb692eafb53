import { limits } from '../../../core/limits/limits.ts'
import { attribute, elementsOf, type ElementNode, type Tree } from '../../extract/tree.ts'
import { redirectUrl } from './web-url.ts'

/** Returns the URL that `<meta http-equiv="refresh">` redirects to soon; undefined if none or the same page. */
export function metaRefresh(tree: Tree, pageUrl: string): string | undefined {
  for (const element of elementsOf(tree.root, outsideNoscript)) {
    if (element.tag !== 'meta' || attribute(element, 'http-equiv').toLowerCase() !== 'refresh') continue
    const [, seconds, target] = /^\s*(\d+(?:\.\d*)?|\.\d+)?\s*[;,\s]\s*(?:url\s*=\s*)?(.+)$/is.exec(attribute(element, 'content')) ?? [] // prettier-ignore
    if (target === undefined || Number(seconds ?? 0) > limits.scrape.refreshSecs) continue
    const address = target.trim().replace(/^(["'])(.*?)\1?$/s, '$2')
    if (!/^https?:/i.test(URL.canParse(address, tree.baseUrl) ? new URL(address, tree.baseUrl).protocol : '')) continue
    const url = redirectUrl(address, tree.baseUrl)
    return url === pageUrl ? undefined : url
  }
  return undefined
}

/** Returns false for noscript elements, which browsers with scripts ignore. */
const outsideNoscript = ({ tag }: ElementNode): boolean => tag !== 'noscript'
