/** A key of the content of a page, which changes when its text, links or images do. */
import { type ElementNode, isElement } from '../../tree.ts'
import { hashText } from './hash.ts'

export const contentKey = (content: ElementNode): number => hashText(outlined(content))

/** Returns the elements, texts, links and images of content as one text, which is hashed faster than its parts. */
function outlined({ tag, attributes, children }: ElementNode): string {
  const { href, src } = attributes
  // Valid HTML contains no NUL, so that no text equals a tag. Where an element ends matters, too.
  let text = `\0<${tag}`
  if (href !== undefined) text += `\0h${href}`
  if (src !== undefined) text += `\0s${src}`
  text += '\0>'
  for (const child of children) text += isElement(child) ? outlined(child) : child.text
  return `${text}\0/`
}
