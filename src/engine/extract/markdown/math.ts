/** Converts formulas to TeX: from KaTeX, MathJax, MathML and images of formulas. */
import {
  attribute,
  childElements,
  type ElementNode,
  findElement,
  hasClass,
  isElement,
  rawText,
  visibleText,
} from '../tree.ts'
import { treeFromHtml } from '../html-tree.ts'
import { drawnMath } from './drawn-math.ts'
import { delimitedTex, displayedImage, latexOf, texOfImage } from './math-source.ts'
import { accents, functions, operators } from './math-symbols.ts'
import { replaceRuns, squeeze } from '../../../core/text/pieces.ts'

const containers = /^(?:katex(?:-display)?|mwe-math-element\S*)$/

/** Whether the element is a whole formula. */
export function isFormula(element: ElementNode): boolean {
  switch (element.tag) {
    case 'math':
    case 'mjx-container':
      return true
    case 'script':
      return /^math\/(?:tex|asciimath|mml)/i.test(element.attributes['type'] ?? '')
    case 'img':
      return texOfImage(element) !== ''
    case 'span':
    case 'div':
      return (
        hasClass(element, containers) || delimitedTex(element) !== undefined || displayedImage(element) !== undefined
      )
    case 'p':
    case 'math-renderer':
      return delimitedTex(element) !== undefined
    default:
      return false
  }
}

/**
 * Returns the formula between dollar signs, or as code when it is not TeX; empty when it cannot be read. `block` is set
 * when it is displayed on its own line.
 */
export function formula(element: ElementNode): { inline: string; block?: string } {
  if (isAsciiMath(element)) return { inline: codeOf(rawText(element)) }
  const tex = cleaned(texOf(element))
  if (tex === '') return { inline: codeOf(attribute(element, 'aria-label') || visibleText(element)) }
  if (!isDisplay(element)) return { inline: `$${tex}$` }
  return { inline: `$$${tex}$$`, block: `$$\n${tex}\n$$` }
}

/** Returns text as code; '' without text. */
function codeOf(text: string): string {
  const code = replaceRuns(text, /[\s`\u200b]+/g, ' ').trim()
  return code === '' ? '' : `\`${code}\``
}

function texOf(element: ElementNode): string {
  if (element.tag === 'script')
    return isMathMl(element) ? texOf(treeFromHtml(rawText(element), '').root) : rawText(element)
  if (element.tag === 'img') return texOfImage(element)
  const typed =
    delimitedTex(element)?.tex ??
    displayedImage(element)?.attributes['alt'] ??
    (element.tag === 'mjx-container' ? latexOf(element) : '')
  if (typed !== '') return typed
  const annotation = findElement(
    element,
    ({ tag, attributes }) => tag === 'annotation' && /tex/i.test(attributes['encoding'] ?? ''),
  )
  if (annotation) return rawText(annotation)
  const math = element.tag === 'math' ? element : findElement(element, ({ tag }) => tag === 'math')
  if (math) return (/\\|[_^]/.test(math.attributes['alttext'] ?? '') && math.attributes['alttext']) || texOfMathMl(math)
  const image = findElement(element, ({ tag, attributes }) => tag === 'img' && !!attributes['alt'])
  if (image) return image.attributes['alt'] ?? ''
  const drawn = drawnMath(element)
  return drawn ? texOfMathMl(drawn) : ''
}

const isMathMl = ({ attributes }: ElementNode): boolean => /^math\/mml/i.test(attributes['type'] ?? '')

const isAsciiMath = ({ tag, attributes }: ElementNode): boolean =>
  tag === 'script' && /^math\/asciimath/i.test(attributes['type'] ?? '')

function isDisplay(element: ElementNode): boolean {
  const { tag, attributes } = element
  if (tag === 'script') return /mode=display/i.test(attributes['type'] ?? '')
  if (tag === 'mjx-container') return attributes['display'] === 'true'
  if (delimitedTex(element)?.isDisplay || displayedImage(element)) return true
  if (hasClass(element, /^(?:katex-display|mwe-math-element-block)$/)) return true
  return tag === 'math' && attributes['display'] === 'block'
}

/** Returns TeX on one line, without the wrapper that MediaWiki adds to every formula. */
function cleaned(tex: string): string {
  const line = squeeze(tex)
  const [wrapper] = (line.endsWith('}') && /^\{\\(?:displaystyle|textstyle) /.exec(line)) || []
  return withoutDollars(wrapper === undefined ? line : line.slice(wrapper.length, -1)).trim()
}

function withoutDollars(tex: string): string {
  let from = 0
  let to = tex.length
  while (from < to && tex[from] === '$') from++
  while (to > from && tex[to - 1] === '$') to--
  return tex.slice(from, to)
}

/** Returns the TeX of the children of a `<math>` element, or of an element inside it. */
function texOfMathMl(element: ElementNode): string {
  return joined(childElements(element).map(tex))
}

/** Joins TeX, with a space between a command and a letter. */
function joined(parts: readonly string[]): string {
  let out = ''
  // Reading the end of a concatenated string would flatten it, which copies all of it.
  let end = ''
  for (const part of parts) {
    if (part === '') continue
    const added = /\\[a-z]+$/i.test(end) && /^[a-z]/i.test(part) ? ` ${part}` : part
    out += added
    end = (end + added.slice(-32)).slice(-32)
  }
  return out
}

const isPrimes = (text: string): boolean => text !== '' && !/[^']/.test(text)

function tex(element: ElementNode): string {
  const parts = childElements(element)
  const part = (at: number) => (parts[at] ? tex(parts[at]!) : '')
  switch (element.tag) {
    case 'mi':
    case 'mn':
    case 'mo':
      return token(rawText(element).trim())
    case 'mtext':
    case 'ms':
      return rawText(element).trim() === '' ? ' ' : `\\text{${rawText(element).replaceAll(/[{}\\]/g, '')}}`
    case 'mspace':
      return '\\ '
    case 'mfrac':
      return /^0(?![.\d])/.test(attribute(element, 'linethickness'))
        ? `{${part(0)} \\atop ${part(1)}}`
        : `\\frac{${part(0)}}{${part(1)}}`
    case 'msqrt':
      return `\\sqrt{${texOfMathMl(element)}}`
    case 'mroot':
      return `\\sqrt[${part(1)}]{${part(0)}}`
    case 'msup':
      return isPrimes(part(1)) ? `${base(part(0))}${part(1)}` : `${base(part(0))}^${script(part(1))}`
    case 'msub':
      return `${base(part(0))}_${script(part(1))}`
    case 'msubsup':
    case 'munderover':
      return `${base(part(0))}_${script(part(1))}^${script(part(2))}`
    case 'mover':
      return accented(part(0), parts[1], '^')
    case 'munder':
      return accented(part(0), parts[1], '_')
    case 'mmultiscripts':
      return multiscripts(parts)
    case 'mfenced':
      return fenced(element, parts)
    case 'mtable':
      return `\\begin{matrix}${parts.map(tex).join(' \\\\ ')}\\end{matrix}`
    case 'mtr':
    case 'mlabeledtr':
      return parts.map(tex).join(' & ')
    case 'semantics':
      return part(0)
    case 'annotation':
    case 'annotation-xml':
    case 'mphantom':
    case 'none':
    case 'mprescripts':
      return ''
    default:
      return parts.length > 0 ? texOfMathMl(element) : token(plain(element))
  }
}

const plain = (element: ElementNode) =>
  element.children
    .map((child) => (isElement(child) ? '' : child.text))
    .join('')
    .trim()

function token(text: string): string {
  if (functions.has(text)) return `\\${text}`
  if (text.length > 1 && !/[^a-z]/i.test(text)) return `\\mathrm{${text}}`
  return joined(
    [...text].map((char) => (Object.hasOwn(operators, char) ? operators[char]! : char === '\\' ? '\\backslash' : char)),
  )
}

/** Returns the base of an index: a single symbol unchanged, expressions in braces. */
const base = (text: string): string =>
  text.length > 1 && /[+\-=*/ ]/.test(text) && !text.startsWith('\\left') ? `{${text}}` : text

const script = (text: string): string => (text.length === 1 ? text : `{${text}}`)

function accented(text: string, over: ElementNode | undefined, direction: '^' | '_'): string {
  const sign = over ? rawText(over).trim() : ''
  if (Object.hasOwn(accents, sign)) return `${accents[sign]}{${text}}`
  return `${base(text)}${direction}${script(over ? tex(over) : '')}`
}

function fenced(element: ElementNode, parts: readonly ElementNode[]): string {
  const { open = '(', close = ')', separators = ',' } = element.attributes
  return `\\left${token(open) || '.'}${parts.map(tex).join(separators[0] ?? '')}\\right${token(close) || '.'}`
}

/** Returns a base with pairs of indices behind it and, after `<mprescripts>`, in front of it. */
function multiscripts([first, ...scripts]: readonly ElementNode[]): string {
  const middle = scripts.findIndex(({ tag }) => tag === 'mprescripts')
  const pairs = (elements: readonly ElementNode[]) =>
    elements.map((element, at) => {
      const index = tex(element)
      return index === '' ? '' : `${at % 2 === 0 ? '_' : '^'}${script(index)}`
    })
  const before = middle < 0 ? '' : pairs(scripts.slice(middle + 1)).join('')
  const after = pairs(middle < 0 ? scripts : scripts.slice(0, middle)).join('')
  return `${before === '' ? '' : `{}${before}`}${first ? base(tex(first)) : ''}${after}`
}
