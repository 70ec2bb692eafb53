/** The contexts of a block (article, navigation, form …), as bits inherited from box to box. */
import { attribute, type ElementNode } from '../../tree.ts'

/** Tags and roles of every context; those without any come from other attributes. */
const sources = {
  article: ['article', 'article'],
  main: ['main', 'main'],
  section: ['section'],
  nav: ['nav menu', 'navigation menu menubar'],
  aside: ['aside', 'complementary'],
  header: ['header', 'banner'],
  footer: ['footer', 'contentinfo'],
  form: ['form fieldset', 'search form'],
  list: ['ul ol menu', 'list'],
  table: ['table'],
  figure: ['figure figcaption'],
  quote: ['blockquote'],
  details: ['details'],
  noscript: ['noscript'],
  dialog: ['dialog', 'dialog alertdialog'],
  button: ['button', 'button'],
  hidden: [],
  code: ['pre'],
  'body-property': [],
  'comment-property': [],
  definitions: ['dl'],
  heading: ['h1 h2 h3 h4 h5 h6', 'heading'],
} satisfies Record<string, readonly string[]>

export type Context = keyof typeof sources

/** The contexts in the order of their bits. */
export const contexts = Object.keys(sources) as Context[]

export const bit = (context: Context): number => 1 << contexts.indexOf(context)

/** Returns the bits of each tag (0) or role (1). */
function bitsByName(kind: 0 | 1): ReadonlyMap<string, number> {
  const bits = new Map<string, number>()
  for (const [index, names] of Object.values<readonly string[]>(sources).entries())
    for (const name of names[kind]?.split(' ') ?? []) bits.set(name, (bits.get(name) ?? 0) | (1 << index))
  return bits
}

const byTag = bitsByName(0)
const byRole = bitsByName(1)

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
