/** Finds the TeX that pages contain as text, in attributes, and in the URLs of images. */
import { attribute, type ElementNode, findElement, hasClass, isElement } from '../tree.ts'

export interface TexSource {
  readonly tex: string
  readonly isDisplay: boolean
}

/** Classes of generators whose formulas a script draws later. */
const drawnLater = /^(?:math|arithmatex|kdmath|js-(?:inline|display)-math)$/
const environment = /^\\begin\{(?:equation|align|gather|multline|split|eqnarray)/

/**
 * Returns the TeX of an element whose only content is TeX between delimiters: those of TeX in any element, dollar signs
 * where the class says that they are.
 */
export function delimitedTex(element: ElementNode): TexSource | undefined {
  const { tag, children } = element
  const [only] = children
  if (children.length !== 1 || isElement(only!) || !/^(?:span|div|p|math-renderer)$/.test(tag)) return undefined
  if (!/^[\\$]/.test(only!.text.trimStart()) || hasClass(element, /^MathJax/)) return undefined
  const text = only!.text.trim()
  const found = delimited(text, tag === 'math-renderer' || hasClass(element, drawnLater))
  // A formula in a line would join the blocks around it.
  return found?.isDisplay || tag === 'span' || tag === 'math-renderer' ? found : undefined
}

function delimited(text: string, isNamed: boolean): TexSource | undefined {
  const isDisplay = text.startsWith('\\[') || text.startsWith('$$')
  const isBetween = (open: string, close: string) =>
    text.startsWith(open) && text.indexOf(close, open.length) === text.length - close.length && text.length > 4
  if (isBetween('\\(', '\\)') || isBetween('\\[', '\\]')) return { tex: text.slice(2, -2), isDisplay }
  if (!isNamed) return undefined
  if (isBetween('$$', '$$')) return { tex: text.slice(2, -2), isDisplay }
  if (text.length > 2 && text.startsWith('$') && text.indexOf('$', 1) === text.length - 1)
    return { tex: text.slice(1, -1), isDisplay }
  return environment.test(text) ? { tex: text, isDisplay: true } : undefined
}

/** Returns the TeX that MathJax 4 adds to its output; else ''. */
export function latexOf(container: ElementNode): string {
  const hasLatex = (element: ElementNode) => attribute(element, 'data-latex') !== ''
  const source = hasLatex(container) ? container : findElement(container, hasLatex)
  return source ? attribute(source, 'data-latex') : ''
}

const formulaClass = /^(?:latex|tex|mwe-math-fallback-image\S*)$/
/** URLs of services that draw TeX. */
const drawnByUrl = /latex\.php\?|codecogs\.com\/|\/(?:mimetex|mathtex)\.cgi\?|\/(?:equation|math)\?(?:tex|math|latex)=/i
const command = /^\${0,9}\\[a-z]|[_^]\{/i

/** Returns the TeX of an image of a formula; '' for other images. */
export function texOfImage(image: ElementNode): string {
  const alt = attribute(image, 'alt')
  const source = attribute(image, 'src')
  if (alt !== '' && (hasClass(image, formulaClass) || command.test(alt.trimStart()))) return alt
  if (alt !== '' && hasClass(image, /^math$/) && /[\\^_=+]|^\S{1,3}$/.test(alt)) return alt
  return drawnByUrl.test(source) ? alt || texOfUrl(source) : ''
}

function texOfUrl(url: string): string {
  const query = url.slice(url.indexOf('?') + 1)
  const named = query.split('&').find((field) => /^(?:tex|math|latex|eq)=/i.test(field))
  try {
    return url.includes('?')
      ? decodeURIComponent(named ? named.slice(named.indexOf('=') + 1).replaceAll('+', ' ') : query)
      : ''
  } catch {
    return ''
  }
}

/** Returns the image of a displayed formula, such as those of Sphinx; undefined for other elements. */
export function displayedImage(element: ElementNode): ElementNode | undefined {
  if (element.tag !== 'div' || !hasClass(element, /^math$/)) return undefined
  const solid = element.children.filter((child) => isElement(child) || child.text.trim() !== '')
  const [only] = solid
  if (solid.length !== 1 || !only || !isElement(only)) return undefined
  const image = only.tag === 'p' && only.children.length === 1 ? only.children[0]! : only
  return isElement(image) && image.tag === 'img' && attribute(image, 'alt') !== '' ? image : undefined
}
