/** Reads formulas from the elements that KaTeX and MathJax draw, on pages without their TeX and MathML. */
import { attribute, childElements, type ElementNode, findElement, hasClass, isElement, rawText } from '../tree.ts'
import { replaceRuns } from '../../../core/text/pieces.ts'

/** Returns the formula that an element draws, as MathML; undefined for other elements. */
export function drawnMath(element: ElementNode): ElementNode | undefined {
  if (element.tag === 'mjx-container') {
    const math = findElement(element, (inner) => nameOf(inner) === 'math')
    return math && row(childElements(math).map(ofMathJax))
  }
  const html = findElement(element, (inner) => hasClass(inner, /^katex-html$/))
  return html && row(ofKatex(html))
}

const create = (tag: string, children: ElementNode['children']): ElementNode => ({ tag, attributes: {}, children })
const row = (children: readonly ElementNode[]): ElementNode => create('mrow', [...children])
const token = (text: string): ElementNode => create('mi', [{ text }])

/** Returns the name of the MathML element that MathJax draws with an element; '' for its own. */
const nameOf = ({ tag, attributes }: ElementNode): string =>
  (attributes['data-mml-node'] ?? /^mjx-(m\w+|texatom)$/.exec(tag)?.[1] ?? '').toLowerCase()

/** Returns a fraction; one without a line is a pair, as in binomial coefficients. */
const fraction = (parts: readonly ElementNode[], hasLine: boolean): ElementNode => ({
  tag: 'mfrac',
  attributes: hasLine ? {} : { linethickness: '0' },
  children: [...parts],
})

const isToken = /^m(?:i|n|o|text|s)$/
const isScripted = /^m(?:sub|sup|subsup|under|over|underover)$/

function ofMathJax(element: ElementNode): ElementNode {
  const name = nameOf(element)
  if (isToken.test(name)) return create(name, [{ text: charactersOf(element) }])
  const parts = partsOf(element)
  const at = (tag: string) => parts.find((part) => part.tag === tag)
  switch (name) {
    case 'mfrac':
      return element.tag === 'g'
        ? fraction(
            parts.map(ofMathJax),
            childElements(element).some(({ tag }) => tag === 'rect'),
          )
        : fraction(
            [inside(at('mjx-num')), inside(at('mjx-den'))],
            findElement(element, ({ tag }) => tag === 'mjx-line') !== undefined,
          )
    case 'msqrt':
      return create('msqrt', [inside(element.tag === 'g' ? parts[0] : at('mjx-box'))])
    case 'mroot': {
      const [base, index] = element.tag === 'g' ? parts : [at('mjx-box'), at('mjx-root')]
      return create('mroot', [inside(base), inside(index)])
    }
    default:
      if (isScripted.test(name)) return scripted(name, element, parts)
      return /^m(?:table|tr|td|labeledtr)$/.test(name) ? create(name, parts.map(ofMathJax)) : row(parts.map(ofMathJax))
  }
}

const inside = (part: ElementNode | undefined): ElementNode =>
  part === undefined ? row([]) : nameOf(part) === '' ? row(partsOf(part).map(ofMathJax)) : ofMathJax(part)

/** Elements around the parts of a formula that have no meaning of their own. */
const frames = /^(?:mjx-(?:frac|dbox|dtable|row|sqrt|table|itable|munder))$/
const ignored = /^(?:mjx-(?:surd|line|nstrut|dstrut|spacer|strut|tstrut|cstrut)|rect|svg|path|use|text)$/

/** Returns the parts of an element of MathJax, without its frames. */
const partsOf = (element: ElementNode): ElementNode[] =>
  childElements(element).flatMap((child) =>
    ignored.test(child.tag)
      ? []
      : frames.test(child.tag) && (child.tag !== 'mjx-munder' || element.tag === 'mjx-box')
        ? partsOf(child)
        : child,
  )

/** Returns a base with what MathJax draws below and above it. */
function scripted(name: string, { tag }: ElementNode, parts: readonly ElementNode[]): ElementNode {
  const flat = parts.flatMap((part) => (part.tag === 'mjx-box' ? partsOf(part) : part))
  const at = (wanted: string) => flat.find((part) => part.tag === wanted)
  const [under, over] = [at('mjx-under'), at('mjx-over')]
  if (under || over)
    return create(name, [inside(at('mjx-base') ?? flat[0]), ...[mark(under, '_'), mark(over, '¯')].filter(isPresent)])
  const [base, ...others] = parts
  const script = at('mjx-script')
  // Fonts have the upper index first; in drawings, only the position distinguishes them.
  const indices = script
    ? partsOf(script).toReversed()
    : tag === 'g'
      ? others.toSorted((one, other) => heightOf(one) - heightOf(other))
      : []
  return create(name, [
    inside(base),
    ...indices.map((index) => mark(index, name === 'munder' ? '_' : '¯')).filter(isPresent),
  ])
}

const isPresent = (element: ElementNode | undefined): element is ElementNode => element !== undefined

/** Returns what is above or below a base; MathJax draws lines as dashes. */
function mark(part: ElementNode | undefined, line: string): ElementNode | undefined {
  if (!part) return undefined
  const content = inside(part)
  return rawText(content).trim() === '–' ? token(line) : content
}

/** Returns how far up an element of an SVG drawing is moved. */
const heightOf = (element: ElementNode): number =>
  Number.parseFloat(/translate\(\s*-?[\d.]+\s*,\s*(-?[\d.]+)/.exec(attribute(element, 'transform'))?.[1] ?? '0')

/** Returns the characters that fonts or paths draw, from their code points. */
function charactersOf(element: ElementNode): string {
  const code =
    attribute(element, 'data-c') ||
    (element.tag.startsWith('mjx-') && /(?:^|\s)mjx-c([\dA-F]+)(?:\s|$)/.exec(attribute(element, 'class'))?.[1]) ||
    ''
  if (code !== '') return characterOf(Number.parseInt(code, 16))
  return element.children.map((child) => (isElement(child) ? charactersOf(child) : child.text)).join('')
}

/** Returns a character; letters of mathematical alphabets as plain ones, except for double-struck ones. */
function characterOf(code: number): string {
  if (!(code > 0 && code <= 0x10_ff_ff)) return ''
  const character = String.fromCodePoint(code)
  const isDoubleStruck = code >= 0x1_d5_38 && code <= 0x1_d5_6b
  return code >= 0x1_d4_00 && code <= 0x1_d7_ff && !isDoubleStruck ? character.normalize('NFKC') : character
}

/** Returns the parts of a formula that KaTeX draws. */
function ofKatex(element: ElementNode): ElementNode[] {
  const parts: ElementNode[] = []
  for (const child of element.children) {
    if (!isElement(child)) parts.push(...tokensOf(replaceRuns(child.text, /[\s\u200b]+/g, ''), element))
    else if (hasClass(child, /^msupsub$/)) parts.push(withIndices(parts.pop() ?? row([]), linesOf(child)))
    else parts.push(...ofKatexElement(child))
  }
  return parts
}

/** Returns the letters of text as variables, and other text as one token. */
function tokensOf(text: string, element: ElementNode): ElementNode[] {
  if (text === '') return []
  if (hasClass(element, /^mathnormal$/)) return [...text].map(token)
  return [token(hasClass(element, /^mathbb$/) ? text.replaceAll(/[A-Z]/g, doubleStruck) : text)]
}

const doubleStruck = (letter: string): string =>
  ({ C: 'ℂ', H: 'ℍ', N: 'ℕ', P: 'ℙ', Q: 'ℚ', R: 'ℝ', Z: 'ℤ' })[letter] ??
  String.fromCodePoint(0x1_d5_38 + letter.charCodeAt(0) - 65)

function ofKatexElement(element: ElementNode): ElementNode[] {
  if (hasClass(element, /^text$/)) return [create('mtext', [{ text: rawText(element) }])]
  if (hasClass(element, /^mtable$/)) return [tableOf(element)]
  if (hasClass(element, /^sqrt$/)) return [rootOf(element)]
  const isStack = hasClass(element, /^mfrac$/) || childElements(element).some((child) => hasClass(child, /^vlist-t$/))
  if (!isStack) return ofKatex(element)
  const lines = linesOf(element)
  const [lowest, second] = lines
  if (hasClass(element, /^mfrac$/) && lowest && second)
    return [
      fraction(
        [row(second.parts), row(lowest.parts)],
        findElement(element, (inner) => hasClass(inner, /^frac-line$/)) !== undefined,
      ),
    ]
  const isAccent = hasClass(element, /^accent$/)
  const base = lines.reduce(
    (nearest, line) => (Math.abs(line.up) < Math.abs(nearest.up) ? line : nearest),
    lowest ?? { up: 0, parts: [] },
  )
  const others = lines.filter((line) => line !== base)
  if (hasClass(element, /^overline$/)) return [create('mover', [row(base.parts), token('¯')])]
  if (hasClass(element, /^underline$/)) return [create('munder', [row(base.parts), token('_')])]
  if (isAccent && findElement(element, (inner) => hasClass(inner, /^overlay$/)))
    return [create('mover', [row(base.parts), token('→')])]
  if (isAccent && others.length === 1) return [create('mover', [row(base.parts), row(others[0]!.parts)])]
  return [withIndices(row(base.parts), others)]
}

/** Parts that KaTeX draws at one height, in em above the base line. */
interface RaisedLine {
  readonly up: number
  readonly parts: readonly ElementNode[]
}

/** Returns the lines of the first stack in an element, the lowest first. */
function linesOf(element: ElementNode): RaisedLine[] {
  const stack = findElement(element, (inner) => hasClass(inner, /^vlist$/))
  if (!stack) return []
  return childElements(stack)
    .map((line) => {
      const strut = findElement(line, (inner) => hasClass(inner, /^pstrut$/))
      const up = -(length(line, 'top') + (strut ? length(strut, 'height') : 0))
      return { up, parts: ofKatex(line) }
    })
    .filter(({ parts }) => parts.length > 0)
    .toSorted((one, other) => one.up - other.up)
}

/** Returns a length of an inline style, in em; 0 if there is none. */
const length = (element: ElementNode, name: string): number =>
  Number.parseFloat(new RegExp(`(?:^|;)\\s*${name}:\\s*(-?[\\d.]+)em`).exec(attribute(element, 'style'))?.[1] ?? '0')

function withIndices(base: ElementNode, lines: readonly RaisedLine[]): ElementNode {
  const [below, above] = [lines.filter(({ up }) => up <= 0), lines.filter(({ up }) => up > 0)].map((side) =>
    row(side.flatMap(({ parts }) => parts)),
  ) as [ElementNode, ElementNode]
  if (below.children.length === 0) return above.children.length === 0 ? base : create('msup', [base, above])
  return above.children.length === 0 ? create('msub', [base, below]) : create('msubsup', [base, below, above])
}

function rootOf(element: ElementNode): ElementNode {
  const index = childElements(element).find((child) => hasClass(child, /^root$/))
  const base = row(
    linesOf(index ? { ...element, children: element.children.filter((child) => child !== index) } : element).flatMap(
      ({ parts }) => parts,
    ),
  )
  return index ? create('mroot', [base, row(linesOf(index).flatMap(({ parts }) => parts))]) : create('msqrt', [base])
}

/** Returns a table, which KaTeX draws column by column. */
function tableOf(element: ElementNode): ElementNode {
  const columns = childElements(element)
    .map((column) => linesOf(column).toReversed())
    .filter((lines) => lines.length > 0)
  const height = Math.max(0, ...columns.map((lines) => lines.length))
  const rows = Array.from({ length: height }, (_, at) =>
    create(
      'mtr',
      columns.map((lines) => create('mtd', [...(lines[at]?.parts ?? [])])),
    ),
  )
  return create('mtable', rows)
}
