/** What a block stands in, as bits inherited from box to box. */
import { attribute, type ElementNode } from '../../tree.ts'

export const contexts = [
  'article',
  'main',
  'section',
  'nav',
  'aside',
  'header',
  'footer',
  'form',
  'list',
  'table',
  'figure',
  'quote',
  'details',
  'noscript',
  'dialog',
  'button',
  'hidden',
  'code',
  'body-property',
  'comment-property',
  'definitions',
  'heading',
] as const

export type Context = (typeof contexts)[number]

export const bit = (context: Context): number => 1 << contexts.indexOf(context)

const byTag: Readonly<Record<string, number>> = {
  article: bit('article'),
  main: bit('main'),
  section: bit('section'),
  nav: bit('nav'),
  aside: bit('aside'),
  header: bit('header'),
  footer: bit('footer'),
  form: bit('form'),
  fieldset: bit('form'),
  ul: bit('list'),
  ol: bit('list'),
  menu: bit('list') | bit('nav'),
  table: bit('table'),
  figure: bit('figure'),
  figcaption: bit('figure'),
  blockquote: bit('quote'),
  details: bit('details'),
  noscript: bit('noscript'),
  dialog: bit('dialog'),
  button: bit('button'),
  pre: bit('code'),
  dl: bit('definitions'),
  h1: bit('heading'),
  h2: bit('heading'),
  h3: bit('heading'),
  h4: bit('heading'),
  h5: bit('heading'),
  h6: bit('heading'),
}

const byRole: Readonly<Record<string, number>> = {
  article: bit('article'),
  main: bit('main'),
  navigation: bit('nav'),
  menu: bit('nav'),
  menubar: bit('nav'),
  complementary: bit('aside'),
  banner: bit('header'),
  contentinfo: bit('footer'),
  search: bit('form'),
  form: bit('form'),
  dialog: bit('dialog'),
  alertdialog: bit('dialog'),
  button: bit('button'),
  list: bit('list'),
  heading: bit('heading'),
}

const hiddenStyle = /display:\s*none|visibility:\s*hidden/i
const bodyProperty = /\b(?:articleBody|text|description|reviewBody|recipeInstructions|recipeIngredient)\b/
const commentProperty = /\b(?:comment|review|answer|suggestedAnswer)\b/i

/** The bits of an element that stands in `inherited`. */
export function contextOf(element: ElementNode, inherited: number): number {
  const { attributes } = element
  let bits = inherited | (byTag[element.tag] ?? 0)
  const role = attributes['role']
  if (role !== undefined) bits |= byRole[role] ?? 0
  if (isHidden(element)) bits |= bit('hidden')
  const property = attributes['itemprop']
  if (property !== undefined) {
    if (bodyProperty.test(property)) bits |= bit('body-property')
    if (commentProperty.test(property)) bits |= bit('comment-property')
  }
  return bits
}

function isHidden(element: ElementNode): boolean {
  const { attributes } = element
  if (attributes['hidden'] !== undefined || attributes['aria-hidden'] === 'true') return true
  return hiddenStyle.test(attribute(element, 'style'))
}
