/** Converts formulas of Word to MathML. */
import type { ElementNode, TreeNode } from '../../../extract/tree.ts'
import { element, elementAround } from '../document.ts'
import { child, children, textOf } from './office-xml.ts'

/** Returns the formula of an `oMath` element. */
export const formulaOf = (node: ElementNode, isBlock: boolean): ElementNode =>
  element('math', isBlock ? { display: 'block' } : {}, ...nodesIn(node))

const nodesIn = (node: ElementNode | undefined): TreeNode[] => children(node).flatMap(nodesOf)
const row = (node: ElementNode | undefined): ElementNode => elementAround('mrow', nodesIn(node))
const sign = (text: string): ElementNode => element('mo', {}, text)
const setting = (node: ElementNode, name: string): string | undefined =>
  child(child(node, `${node.tag}Pr`), name)?.attributes['val']

function nodesOf(node: ElementNode): TreeNode[] {
  const part = (tag: string) => row(child(node, tag))
  const all = (tag: string) => children(node, tag).map(row)
  switch (node.tag) {
    case 'r':
      return symbolsOf(node)
    case 'f':
      return [fraction(node)]
    case 'sSup':
      return [element('msup', {}, part('e'), part('sup'))]
    case 'sSub':
      return [element('msub', {}, part('e'), part('sub'))]
    case 'sSubSup':
      return [element('msubsup', {}, part('e'), part('sub'), part('sup'))]
    case 'rad':
      return [radical(node)]
    case 'nary':
      return [limited(sign(setting(node, 'chr') ?? '∫'), child(node, 'sub'), child(node, 'sup')), part('e')]
    case 'limLow':
      return [element('munder', {}, part('e'), part('lim'))]
    case 'limUpp':
      return [element('mover', {}, part('e'), part('lim'))]
    case 'd':
      return [fenced(node)]
    case 'm':
      return [matrix(node)]
    case 'eqArr':
      return [
        elementAround(
          'mtable',
          all('e').map((line) => element('mtr', {}, line)),
        ),
      ]
    case 'acc':
      return [element('mover', {}, part('e'), sign(accents[setting(node, 'chr') ?? ''] ?? setting(node, 'chr') ?? '^'))]
    case 'bar':
      return [
        setting(node, 'pos') === 'top'
          ? element('mover', {}, part('e'), sign('¯'))
          : element('munder', {}, part('e'), sign('_')),
      ]
    case 'sPre':
      return [element('msubsup', {}, element('mrow', {}), part('sub'), part('sup')), part('e')]
    case 'ctrlPr':
      return []
    default:
      // Properties end with `Pr`; other elements only wrap.
      return node.tag.endsWith('Pr') ? [] : nodesIn(node)
  }
}

function fraction(node: ElementNode): ElementNode {
  const [top, bottom] = [row(child(node, 'num')), row(child(node, 'den'))]
  const isLine = setting(node, 'type') === 'lin'
  return isLine ? elementAround('mrow', [top, sign('/'), bottom]) : element('mfrac', {}, top, bottom)
}

function radical(node: ElementNode): ElementNode {
  const [base, degree] = [row(child(node, 'e')), child(node, 'deg')]
  const isRoot = children(degree).some(({ tag }) => tag !== 'ctrlPr')
  return isRoot ? element('mroot', {}, base, row(degree)) : element('msqrt', {}, base)
}

function fenced(node: ElementNode): ElementNode {
  const [open, close] = [setting(node, 'begChr') ?? '(', setting(node, 'endChr') ?? ')']
  const separators = setting(node, 'sepChr') ?? '|'
  return element('mfenced', { open, close, separators }, ...children(node, 'e').map(row))
}

function matrix(node: ElementNode): ElementNode {
  const cellsOf = (line: ElementNode) => children(line, 'e').map((cell) => elementAround('mtd', nodesIn(cell)))
  return elementAround(
    'mtable',
    children(node, 'mr').map((line) => elementAround('mtr', cellsOf(line))),
  )
}

/** Combining characters of accents, as signs. */
const accents: Readonly<Record<string, string>> = {
  '\u0302': '^',
  '\u0304': '¯',
  '\u0305': '¯',
  '\u0303': '~',
  '\u0307': '˙',
  '\u0308': '¨',
  '\u20d7': '→',
}

function limited(base: ElementNode, low: ElementNode | undefined, high: ElementNode | undefined): ElementNode {
  const [hasLow, hasHigh] = [textOf(low).trim() !== '', textOf(high).trim() !== '']
  if (hasLow && hasHigh) return element('munderover', {}, base, row(low), row(high))
  if (hasLow) return element('munder', {}, base, row(low))
  return hasHigh ? element('mover', {}, base, row(high)) : base
}

/** Returns numbers, names and signs of a run: letters are variables unless they are upright. */
function symbolsOf(run: ElementNode): TreeNode[] {
  const text = children(run, 't').map(textOf).join('')
  const properties = children(run, 'rPr')
  const isText = properties.some((one) => child(one, 'nor'))
  if (isText) return [element('mtext', {}, text)]
  const isUpright = properties.some((one) => child(one, 'sty')?.attributes['val'] === 'p')
  const tokens = text.match(isUpright ? /[\d.,]*\d|\p{L}+|\S/gu : /[\d.,]*\d|\S/gu) ?? []
  return tokens.map((token) => element(/\d$/.test(token) ? 'mn' : /^\p{L}/u.test(token) ? 'mi' : 'mo', {}, token))
}
