/** The contexts of a block (article, navigation, form …), as bits inherited from box to box. */
import { attribute, type ElementNode } from '../../tree.ts'

export const contexts = [
  'article', 'main', 'section', 'nav', 'aside', 'header', 'footer', 'form', 'list', 'table', 'figure', 'quote',
  'details', 'noscript', 'dialog', 'button', 'hidden', 'code', 'body-property', 'comment-property', 'definitions',
  'heading',
] as const // prettier-ignore

export type Context = (typeof contexts)[number]

export const bit = (context: Context): number => 1 << contexts.indexOf(context)

/** Returns the bits of each tag or role name. */
function bitsByName(names: Partial<Record<Context, string>>): ReadonlyMap<string, number> {
  const bits = new Map<string, number>()
  for (const [context, list] of Object.entries(names) as [Context, string][])
    for (const name of list.split(' ')) bits.set(name, (bits.get(name) ?? 0) | bit(context))
  return bits
}

const byTag = bitsByName({
  article: 'article',
  main: 'main',
  section: 'section',
  nav: 'nav menu',
  aside: 'aside',
  header: 'header',
  footer: 'footer',
  form: 'form fieldset',
  list: 'ul ol menu',
  table: 'table',
  figure: 'figure figcaption',
  quote: 'blockquote',
  details: 'details',
  noscript: 'noscript',
  dialog: 'dialog',
  button: 'button',
  code: 'pre',
  definitions: 'dl',
  heading: 'h1 h2 h3 h4 h5 h6',
})

const byRole = bitsByName({
  article: 'article',
  main: 'main',
  nav: 'navigation menu menubar',
  aside: 'complementary',
  header: 'banner',
  footer: 'contentinfo',
  form: 'search form',
  dialog: 'dialog alertdialog',
  button: 'button',
  list: 'list',
  heading: 'heading',
})

const hiddenStyle = /display:\s*none|visibility:\s*hidden/i
const bodyProperty = /\b(?:articleBody|text|description|reviewBody|recipeInstructions|recipeIngredient)\b/
const commentProperty = /\b(?:comment|review|answer|suggestedAnswer)\b/i

/** Returns the bits of an element, including those inherited from its parent. */
export function contextOf(element: ElementNode, inherited: number): number {
  const { attributes } = element
  let bits = inherited | (byTag.get(element.tag) ?? 0)
  const role = attributes['role']
  if (role !== undefined) bits |= byRole.get(role) ?? 0
  const isHidden = attributes['hidden'] !== undefined || attributes['aria-hidden'] === 'true'
  if (isHidden || hiddenStyle.test(attribute(element, 'style'))) bits |= bit('hidden')
  const property = attributes['itemprop']
  if (property !== undefined) {
    if (bodyProperty.test(property)) bits |= bit('body-property')
    if (commentProperty.test(property)) bits |= bit('comment-property')
  }
  return bits
}
