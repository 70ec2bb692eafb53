/** The text of a page line by line, as a reader sees it, for prices and other facts that stand on lines of their own. */
import {
  attribute,
  collapse,
  type ElementNode,
  isElement,
  isPhrasing,
  isSilent,
  rawText,
  visibleText,
} from '../../../extract/tree.ts'

export interface Line {
  readonly text: string
  /** Whether it is crossed out, or marked as a former price. */
  readonly isFormer: boolean
  /** Whether a heading is between the headline and it, or it is part of a link, as the names of other products are. */
  readonly isApart: boolean
}

/** Parts of a page that are about other products, or about the site. */
const others =
  /(?:^|[-_\s])(?:related|recommend\w*|similar|up-?sells?|cross-?sells?|also-(?:viewed|bought|like[ds]?)|recently(?:-viewed)?|reviews?|comments?|mini-?cart|cart-drawer|minibasket|breadcrumbs?|newsletter|cookie\w*|modal|compare|accessor(?:y|ies)|bundles?|site-header|site-footer)(?:$|[-_\s])/i
const otherTags = /^(?:nav|footer|aside|dialog)$/
const otherHeading =
  /\b(?:related|similar|you (?:may|might) also|also (?:like|bought|viewed)|recommended|recently viewed|frequently bought|more from|customers|ähnliche|passend|empfehl|kunden|zuletzt|vous aimerez|similaires|también|relacionad|altri|correlati|andere klanten)/i
const formerNames =
  /(?:^|[-_\s])(?:old|was|former|previous|compare(?:-at)?|strike\w*|list-?price|rrp|msrp|uvp|crossed|original|a-text-price)(?:$|[-_\s])/i

const nameOf = ({ attributes }: ElementNode): string => `${attributes['class'] ?? ''} ${attributes['id'] ?? ''}`

const words = (name: string): string => name.replaceAll(/([a-z])([A-Z])|__/g, '$1-$2')

/** Whether an element is hidden by its attributes. */
export const isHidden = (element: ElementNode): boolean => {
  const { hidden, style } = element.attributes
  return hidden !== undefined || (style !== undefined && /display\s*:\s*none|visibility\s*:\s*hidden/i.test(style))
}

const isFormerPrice = (element: ElementNode): boolean => {
  if (/^(?:del|s|strike)$/.test(element.tag)) return true
  const name = nameOf(element)
  return name !== ' ' && name.length < 300 && formerNames.test(words(name))
}

const isOther = (element: ElementNode): boolean => {
  if (otherTags.test(element.tag)) return true
  const name = nameOf(element)
  return name !== ' ' && name.length < 300 && others.test(words(name))
}

/** Maximum number of lines; a product page has its facts at the beginning. */
const maxLines = 3000

/**
 * Returns the lines after the headline, without parts about other products. Elements around the headline are read
 * whatever their names are.
 */
export function linesAfter(root: ElementNode, headline: ElementNode): Line[] {
  const around = ancestorsOf(root, headline)
  const lines: Line[] = []
  let isBelow = false
  let isEnd = false
  let text = ''
  let isLinked = false
  let former = 0
  let links = 0
  let headings = 0
  const flush = (isFormer: boolean) => {
    const line = collapse(text.replaceAll('\u00a0', ' ')).trim()
    if (line !== '' && isBelow && lines.length < maxLines)
      lines.push({ text: line, isFormer, isApart: headings > 0 || isLinked })
    text = ''
    isLinked = false
  }
  const visit = (element: ElementNode): void => {
    if (isEnd || isSilent(element) || isHidden(element)) return
    if (element === headline) {
      flush(false)
      isBelow = true
      return
    }
    if (!around.has(element)) {
      if (isOther(element)) return
      if (isBelow && /^h[1-6]$/.test(element.tag) && otherHeading.test(textOf(element))) {
        isEnd = true
        return
      }
    }
    const isFormer = isFormerPrice(element)
    const isBlock = isFormer || !isPhrasing(element) || element.tag === 'br'
    if (isBlock) flush(former > 0)
    if (isFormer) former++
    if (isDecimals(element, text)) text = `${text.trimEnd()}.`
    for (const child of element.children) {
      if (isElement(child)) visit(child)
      else {
        // The label and the amount of `<b>Price</b><i>12 €</i>` are apart, unlike the parts of an amount.
        text += /\p{L}$/u.test(text) && /^\d/.test(child.text) ? ` ${child.text}` : child.text
        isLinked ||= links > 0 && child.text.trim() !== ''
      }
    }
    if (isBlock) flush(former > 0)
    if (isFormer) former--
    if (element.tag === 'a') links--
  }
  visit(root)
  return lines
}

const textOf = (element: ElementNode): string => visibleText(element, 200)

/** Whether an element continues an amount with its decimals, as in `$12<sup>99</sup>`. */
const isDecimals = (element: ElementNode, before: string): boolean =>
  /\d\s*$/.test(before) &&
  (element.tag === 'sup' || /cents|fraction|decimal/i.test(attribute(element, 'class'))) &&
  /^\d\d$/.test(textOf(element))

/** Returns the elements around another one, and itself. */
function ancestorsOf(root: ElementNode, target: ElementNode): Set<ElementNode> {
  const found = new Set<ElementNode>()
  const visit = (element: ElementNode): boolean => {
    const isAround = element === target || element.children.some((child) => isElement(child) && visit(child))
    if (isAround) found.add(element)
    return isAround
  }
  visit(root)
  return found
}

/** Returns the choices of a form, such as sizes: lists, and groups of radio buttons with labels. */
export function optionsIn(root: ElementNode): { name: string; values: string[] }[] {
  const found: { name: string; values: string[] }[] = []
  const labels = new Map<string, string>()
  const visit = (element: ElementNode): void => {
    const target = element.tag === 'label' ? element.attributes['for'] : undefined
    if (target !== undefined) labels.set(target, textOf(element))
    if (element.tag === 'select' && !isHidden(element)) {
      const field = attribute(element, 'name') || attribute(element, 'id')
      const values = element.children
        .flatMap((child) => (isElement(child) && child.tag === 'optgroup' ? child.children : [child]))
        .filter(isElement)
        .filter(({ tag, attributes }) => tag === 'option' && attributes['value'] !== '')
        .map((option) => collapse(rawText(option)).trim())
        .filter((text) => text !== '' && text.length <= 100)
      const name = labels.get(attribute(element, 'id')) || attribute(element, 'aria-label') || field
      if (optionNames.test(words(`${field} ${name}`)) && values.length > 0)
        found.push({ name: name.replace(/\s*[:*]\s*$/, ''), values: [...new Set(values)] })
      return
    }
    for (const child of element.children) if (isElement(child)) visit(child)
  }
  visit(root)
  return found
}

const optionNames =
  /(?:^|[-_\s[\]])(?:options?|variants?|attributes?|sizes?|colou?rs?|style|material|flavou?r|capacity|farbe|größe|groesse|couleur|taille|talla|colore|taglia|maat|kleur)(?:$|[-_\s[\]])/i
