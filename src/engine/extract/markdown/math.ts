/** Converts formulas to TeX: from KaTeX, MathJax, MathML and images of formulas. */
import { type ElementNode, findElement, hasClass, rawText } from '../tree.ts'
import { treeFromHtml } from '../html-tree.ts'
import { texOfMathMl } from './mathml.ts'

interface Formula {
  readonly inline: string
  /** The formula as a block, when it is displayed on its own line. */
  readonly block: string | undefined
}

const containers = /^(?:katex(?:-display)?|mwe-math-element\S*)$/
const formulaImages = /^(?:latex|tex|mwe-math-fallback-image\S*)$/

/** Whether the element is a whole formula. */
export function isFormula(element: ElementNode): boolean {
  switch (element.tag) {
    case 'math':
    case 'mjx-container':
      return true
    case 'script':
      return /^math\/(?:tex|asciimath|mml)/i.test(element.attributes['type'] ?? '')
    case 'img':
      return hasClass(element, formulaImages) && !!element.attributes['alt']
    case 'span':
    case 'div':
      return hasClass(element, containers)
    default:
      return false
  }
}

/** Returns the formula between dollar signs, or as code when it is not TeX; empty when it cannot be read. */
export function formula(element: ElementNode): Formula {
  if (isAsciiMath(element)) {
    const code = rawText(element).replaceAll(/[\s`]+/g, ' ')
    return { inline: `\`${code.trim()}\``, block: undefined }
  }
  const tex = cleaned(texOf(element))
  if (tex === '') return { inline: '', block: undefined }
  if (!isDisplay(element)) return { inline: `$${tex}$`, block: undefined }
  return { inline: `$$${tex}$$`, block: `$$\n${tex}\n$$` }
}

function texOf(element: ElementNode): string {
  if (element.tag === 'script')
    return isMathMl(element) ? texOf(treeFromHtml(rawText(element), '').root) : rawText(element)
  if (element.tag === 'img') return element.attributes['alt'] ?? ''
  const annotation = findElement(
    element,
    ({ tag, attributes }) => tag === 'annotation' && /tex/i.test(attributes['encoding'] ?? ''),
  )
  if (annotation) return rawText(annotation)
  const math = element.tag === 'math' ? element : findElement(element, ({ tag }) => tag === 'math')
  if (math) return (/\\|[_^]/.test(math.attributes['alttext'] ?? '') && math.attributes['alttext']) || texOfMathMl(math)
  const image = findElement(element, ({ tag, attributes }) => tag === 'img' && !!attributes['alt'])
  return image?.attributes['alt'] ?? ''
}

const isMathMl = ({ attributes }: ElementNode): boolean => /^math\/mml/i.test(attributes['type'] ?? '')

const isAsciiMath = ({ tag, attributes }: ElementNode): boolean =>
  tag === 'script' && /^math\/asciimath/i.test(attributes['type'] ?? '')

function isDisplay(element: ElementNode): boolean {
  const { tag, attributes } = element
  if (tag === 'script') return /mode=display/i.test(attributes['type'] ?? '')
  if (tag === 'mjx-container') return attributes['display'] === 'true'
  if (hasClass(element, /^(?:katex-display|mwe-math-element-block)$/)) return true
  return tag === 'math' && attributes['display'] === 'block'
}

/** Returns TeX on one line, without the wrapper that MediaWiki adds to every formula. */
function cleaned(tex: string): string {
  const line = tex.replaceAll(/\s+/g, ' ').trim()
  const wrapped = /^\{\\(?:displaystyle|textstyle) (.*)\}$/.exec(line)
  return withoutDollars(wrapped?.[1] ?? line).trim()
}

function withoutDollars(tex: string): string {
  let from = 0
  let to = tex.length
  while (from < to && tex[from] === '$') from++
  while (to > from && tex[to - 1] === '$') to--
  return tex.slice(from, to)
}
