/** A key of the content of a page, which changes when its text, links or images do. */
import { type ElementNode, isElement } from '../../tree.ts'
import { hashText } from './hash.ts'

export const contentKey = (content: ElementNode): number => hashText(outlined(content))

/** Returns the elements, texts, links and images of content as one text, which is hashed faster than its parts. */
function outlined({ tag, attributes, children }: ElementNode): string {
  const { href, src } = attributes
  let text = `<${tag}`
  if (href !== undefined) text += ` ${href}`
  if (src !== undefined) text += ` ${src}`
  text += '>'
  for (const child of children) text += isElement(child) ? outlined(child) : child.text
  // Where an element ends matters, too.
  return `${text}<`
}
