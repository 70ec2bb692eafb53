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
      return [setting(node, 'type') === 'lin' ? elementAround('mrow', [part('num'), sign('/'), part('den')]) : element('mfrac', {}, part('num'), part('den'))] // prettier-ignore
    case 'sSup':
      return [element('msup', {}, part('e'), part('sup'))]
    case 'sSub':
      return [element('msub', {}, part('e'), part('sub'))]
    case 'sSubSup':
      return [element('msubsup', {}, part('e'), part('sub'), part('sup'))]
    case 'rad':
      return [children(child(node, 'deg')).some(({ tag }) => tag !== 'ctrlPr') ? element('mroot', {}, part('e'), part('deg')) : element('msqrt', {}, part('e'))] // prettier-ignore
    case 'nary':
      return [limited(sign(setting(node, 'chr') ?? '∫'), child(node, 'sub'), child(node, 'sup')), part('e')]
    case 'limLow':
      return [element('munder', {}, part('e'), part('lim'))]
    case 'limUpp':
      return [element('mover', {}, part('e'), part('lim'))]
    case 'd':
      return [element('mfenced', { open: setting(node, 'begChr') ?? '(', close: setting(node, 'endChr') ?? ')', separators: setting(node, 'sepChr') ?? '|' }, ...all('e'))] // prettier-ignore
    case 'm':
      return [elementAround('mtable', children(node, 'mr').map((one) => elementAround('mtr', children(one, 'e').map((cell) => elementAround('mtd', nodesIn(cell))))))] // prettier-ignore
    case 'eqArr':
      return [elementAround('mtable', all('e').map((line) => element('mtr', {}, line)))] // prettier-ignore
    case 'acc':
      return [element('mover', {}, part('e'), sign(accents[setting(node, 'chr') ?? ''] ?? setting(node, 'chr') ?? '^'))]
    case 'bar':
      return [setting(node, 'pos') === 'top' ? element('mover', {}, part('e'), sign('¯')) : element('munder', {}, part('e'), sign('_'))] // prettier-ignore
    case 'sPre':
      return [element('msubsup', {}, element('mrow', {}), part('sub'), part('sup')), part('e')]
    case 'ctrlPr':
      return []
    default:
      // Properties end with `Pr`; other elements only wrap.
      return node.tag.endsWith('Pr') ? [] : nodesIn(node)
  }
}

/** Combining characters of accents, as signs. */
const accents: Readonly<Record<string, string>> = { '\u0302': '^', '\u0304': '¯', '\u0305': '¯', '\u0303': '~', '\u0307': '˙', '\u0308': '¨', '\u20d7': '→' } // prettier-ignore

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
