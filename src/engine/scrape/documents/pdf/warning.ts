/** Reports text that is missing from a PDF, or may be wrong. */
import type { PageContent } from './page/page-content.ts'

/** Maximum number of pages that are listed. */
const maxListed = 20
/** Share of unknown characters above which the text may be wrong. */
const maxUnknown = 0.2

export function warningOf(pages: readonly PageContent[]): string | undefined {
  const numbers = (matches: (page: PageContent) => boolean) =>
    pages.flatMap((page, at) => (matches(page) ? [at + 1] : []))
  const lost = numbers(({ hasLostText }) => hasLostText)
  if (lost.length > 0) return `text is missing from ${listed(lost)}: the fonts have an encoding that is not supported`
  const scanned = numbers((page) => isEmpty(page) && page.hasImages)
  if (pages.every(isEmpty))
    return scanned.length > 0 ? 'the PDF has no text: its pages are images' : 'the PDF has no text'
  if (scanned.length > 0)
    return `${listed(scanned)} ${scanned.length === 1 ? 'is an image' : 'are images'} without text`
  return hasUnknownText(pages)
    ? 'the PDF has fonts that do not say which characters they show: its text may be wrong'
    : undefined
}

const isEmpty = ({ layers }: PageContent): boolean => layers.every((layer) => layer.length === 0)

const listed = (numbers: readonly number[]): string =>
  numbers.length === 1
    ? `page ${numbers[0]}`
    : `pages ${numbers.slice(0, maxListed).join(', ')}${numbers.length > maxListed ? ', …' : ''}`

function hasUnknownText(pages: readonly PageContent[]): boolean {
  let [all, unknown] = [0, 0]
  for (const { layers } of pages)
    for (const { text } of layers.flat()) {
      all += text.length
      unknown += text.match(/[\uE000-\uF8FF\uFFFD]/g)?.length ?? 0
    }
  return unknown > all * maxUnknown
}
