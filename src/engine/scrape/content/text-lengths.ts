/** Measures the text of elements. */
import { type ElementNode, isElement, isSilent, type TextNode } from '../../extract/tree.ts'

/** Text lengths of an element, in characters: all text, text classified as content, text of links. */
interface Lengths {
  all: number
  kept: number
  linked: number
}

export type LengthsByElement = (element: ElementNode) => Readonly<Lengths>

const none: Lengths = { all: 0, kept: 0, linked: 0 }

/** Measures every element of a page; `kept` are the texts that were classified as content. */
export function measure(page: ElementNode, kept?: ReadonlySet<TextNode>): LengthsByElement {
  const lengths = new Map<ElementNode, Lengths>()
  const visit = (element: ElementNode): Lengths => {
    const own: Lengths = { all: 0, kept: 0, linked: 0 }
    lengths.set(element, own)
    if (isSilent(element)) return own
    for (const child of element.children) {
      if (isElement(child)) {
        const inner = visit(child)
        own.all += inner.all
        own.kept += inner.kept
        own.linked += child.tag === 'a' ? inner.all : inner.linked
      } else {
        const letters = trimmedLength(child.text)
        own.all += letters
        if (kept?.has(child)) own.kept += letters
      }
    }
    return own
  }
  visit(page)
  return (element) => lengths.get(element) ?? none
}

/** Returns the length of the text of an element, in characters, as `measure` counts it. */
export function lettersOf(element: ElementNode): number {
  if (isSilent(element)) return 0
  let letters = 0
  for (const child of element.children) letters += isElement(child) ? lettersOf(child) : trimmedLength(child.text)
  return letters
}

/** Returns the length without white space at both ends; most texts have none. */
function trimmedLength(text: string): number {
  const { length } = text
  return isVisible(text.charCodeAt(0)) && isVisible(text.charCodeAt(length - 1)) ? length : text.trim().length
}

const isVisible = (code: number): boolean => code > 32 && code < 128
