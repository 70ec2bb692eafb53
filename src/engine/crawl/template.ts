/** What pages that are made alike have in common, and how much there is on a page, for comparing two readings of it. */
import { attribute, childElements, type ElementNode, elementsOf, rawText } from '../extract/tree.ts'
import { newTexts } from '../render/difference.ts'
import { contentOf } from '../scrape/content.ts'
import { linksOf } from '../scrape/links.ts'
import type { ObtainedPage } from '../scrape/obtain.ts'
import { hashOf } from './seen.ts'

/** Elements of the body that say how a page is laid out; further ones are its content. */
const layout = 12

/** Characters that scripts may add to a page without making it another. */
const trifle = 4
const trifleUnasked = 60

/** A name for the scripts and the layout of a page; undefined for one without scripts, which is what it is. */
export function templateOf(root: ElementNode): string | undefined {
  const scripts = new Set<string>()
  let body: ElementNode | undefined
  for (const element of elementsOf(root)) {
    if (element.tag === 'body') body ??= element
    if (element.tag !== 'script' || /json/.test(attribute(element, 'type'))) continue
    const source = attribute(element, 'src').replace(/[?#].*$/, '')
    if (source !== '' || rawText(element).trim() !== '') scripts.add(source || 'inline')
  }
  if (scripts.size === 0) return undefined
  const parts = body
    ? childElements(body)
        .slice(0, layout)
        .map(({ tag }) => tag)
    : []
  return hashOf(`${[...scripts].sort().join(' ')}|${parts.join(' ')}`).toString(36)
}

/**
 * Whether a browser shows more of a page than was sent: text of the part that is wanted, or links. Of a page whose
 * markup promises more (`promised`) a price is enough, of others a clock is not.
 */
export async function showsMore(
  fetched: ObtainedPage,
  rendered: ObtainedPage,
  { onlyMain, promised }: { onlyMain: boolean; promised: boolean },
): Promise<boolean> {
  const { tree } = await contentOf(rendered.document, { onlyMain, inlineImages: false, headline: true })
  const length = newTexts(fetched.document.tree.root, tree.root).reduce((sum, text) => sum + text.length, 0)
  if (length > (promised ? trifle : trifleUnasked)) return true
  const known = new Set(linksOf(fetched.document.tree).map(({ href }) => href))
  const host = new URL(rendered.url).host
  const own = linksOf(rendered.document.tree).filter(({ href }) => URL.canParse(href) && new URL(href).host === host)
  const fresh = own.filter(({ href }) => !known.has(href)).length
  return fresh > Math.max(2, own.length * 0.05)
}
