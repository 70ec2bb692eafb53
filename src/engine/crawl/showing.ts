/** Two readings of one page, held against each other. */
import { newTexts } from '../render/difference.ts'
import { contentOf } from '../scrape/content.ts'
import { linksOf } from '../scrape/links.ts'
import type { ObtainedPage } from '../scrape/obtain.ts'
import { isLarge } from '../scrape/reading.ts'

/** Whether both are of a size to be looked at here: what is larger was read in a thread. */
export const areComparable = (fetched: ObtainedPage, rendered: ObtainedPage): boolean =>
  [fetched, rendered].every(({ reading }) => !isLarge({ length: reading?.size ?? 0 }))

/** Characters that scripts may add to a page without making it another. */
const trifle = 4
const trifleUnasked = 60

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
