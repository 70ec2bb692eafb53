/** Parts of prices that shops set as superscripts: the currency, and the decimals. */
import { type ElementNode, isElement, rawText, type TreeNode, visibleText } from '../tree.ts'

/**
 * Returns the text of the superscript at an index of a list of nodes if it is a part of a price: `$` in
 * `<sup>$</sup>12`, `.99` in `12<sup>.99</sup>`, and `.99` for `99` in `<sup>$</sup>12<sup>99</sup>`. Undefined for
 * others, such as notes.
 */
export function raisedAmount(nodes: readonly TreeNode[], at: number): string | undefined {
  const element = nodes[at]!
  if (!isElement(element) || element.tag !== 'sup') return undefined
  const text = visibleText(element, maxLength).trim()
  if (text === '' || text.length > maxLength) return undefined
  const before = nodes.slice(Math.max(0, at - nearby), at)
  const amount = /[\d.,]*\d[.,]?$/.exec(textOf(before))?.[0]
  const after = nodes.slice(at + 1, at + 1 + nearby)
  if (currency.test(text)) return amount !== undefined || /^\s*\d/.test(textOf(after)) ? text : undefined
  if (amount === undefined) return undefined
  if (/[.,]$/.test(amount) ? /^\d\d$/.test(text) : /^[.,]\d\d$/.test(text)) return text
  if (!/^\d\d$/.test(text) || !isOfPrice(nodes, at, amount)) return undefined
  return `${amount.includes('.') ? ',' : '.'}${text}`
}

const currency = /^\p{Sc}$/u
/** Maximum number of characters of a part. */
const maxLength = 3
/** Number of nodes on each side that may belong to the same price. */
const nearby = 3

const textOf = (nodes: readonly TreeNode[]): string =>
  nodes.map((node) => (isElement(node) ? rawText(node) : node.text)).join('')

/** Whether two digits after an amount are its decimals by what the page says of them, rather than the number of a note. */
function isOfPrice(nodes: readonly TreeNode[], at: number, amount: string): boolean {
  const { attributes } = nodes[at] as ElementNode
  if (Object.values(attributes).some((value) => /price|cents|decimal|fraction/i.test(value ?? ''))) return true
  const isAmount = textOf(nodes.slice(at - 1, at)).trim() === amount
  return isAmount && (isRaisedCurrency(nodes[at - 2]) || isRaisedCurrency(nodes[at + 1]))
}

const isRaisedCurrency = (node: TreeNode | undefined): boolean =>
  node !== undefined && isElement(node) && node.tag === 'sup' && currency.test(visibleText(node, maxLength).trim())
