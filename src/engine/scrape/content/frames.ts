/**
 * Frames of a page as parts of it: what a reader sees in them belongs to the page. Read are those that hold their content
 * themselves (`srcdoc`) and those of the page's own origin, as they are sent; what others embed (players, maps,
 * advertisements) and what a frame's scripts would draw is left out.
 */
import { BaxError } from '../../../core/errors/errors.ts'
import { resolveUrl } from '../../extract/address.ts'
import { treeFromHtml } from '../../extract/html-tree.ts'
import { withAbsoluteAddresses } from '../../extract/live-tree.ts'
import { attribute, classes, type ElementNode, isElement, type Tree, type TreeNode } from '../../extract/tree.ts'

/** Gets the document of a frame; undefined when it is none that can be read, or has gone to another origin. */
export type GetFrame = (url: string) => Promise<Tree | undefined>

/** Frames of one page, and frames inside frames. */
const mostFrames = 8
const deepest = 2

/** Puts the content of its frames into a tree, in their places; gives what could not be had, as sentences. */
export async function fillFrames(tree: Tree, url: string, get: GetFrame, depth = 0): Promise<string[]> {
  const places = placesOf(tree.root).slice(0, mostFrames)
  const warnings = await Promise.all(places.map((place) => fill(place, tree, url, get, depth)))
  return warnings.flat()
}

interface Place {
  readonly frame: ElementNode
  readonly parent: ElementNode
}

async function fill(
  { frame, parent }: Place,
  tree: Tree,
  url: string,
  get: GetFrame,
  depth: number,
): Promise<string[]> {
  const source = frame.attributes['srcdoc']
  const address = source === undefined ? addressOf(frame, tree.baseUrl, url) : url
  if (address === undefined) return []
  let content: Tree | undefined
  try {
    content = source === undefined ? await get(address) : treeFromHtml(source, tree.baseUrl)
  } catch (error) {
    if (!(error instanceof BaxError) || error.status !== 200) throw error
    return [`a frame of the page could not be had (${new URL(address).pathname}): ${error.message}`]
  }
  if (!content) return []
  const warnings = depth + 1 < deepest ? await fillFrames(content, address, get, depth + 1) : []
  const body = content.root.children.filter(isElement).find(({ tag }) => tag === 'body' || tag === 'frameset')
  const children = withAbsoluteAddresses({ ...content, root: body ?? content.root }).children.filter(isShown)
  parent.children[parent.children.indexOf(frame)] = { tag: 'div', attributes: {}, children }
  return warnings
}

/** What a frame's scripts do is not seen; their texts would only mislead those who look for them. */
const isShown = (node: TreeNode): boolean => !isElement(node) || (node.tag !== 'script' && node.tag !== 'noscript')

const closed = new Set(['noscript', 'template', 'head', 'nav', 'header', 'footer', 'aside'])

/** Frames that a reader would look at, with where they stand. */
function placesOf(root: ElementNode): Place[] {
  const places: Place[] = []
  const visit = (parent: ElementNode): void => {
    for (const child of parent.children) {
      if (!isElement(child) || closed.has(child.tag)) continue
      if (child.tag !== 'iframe' && child.tag !== 'frame') visit(child)
      else if (isVisible(child) && !isForeign(child)) places.push({ frame: child, parent })
    }
  }
  visit(root)
  return places
}

function isVisible({ attributes }: ElementNode): boolean {
  const { hidden, width = '', height = '', style = '' } = attributes
  if (hidden !== undefined || attributes['aria-hidden'] === 'true') return false
  if (/display\s*:\s*none|visibility\s*:\s*hidden|(?:^|[\s;])(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|$)/i.test(style)) return false // prettier-ignore
  return !isTiny(width) && !isTiny(height)
}

/** Counters and keepers of a login are a few pixels large. */
const isTiny = (length: string): boolean => /^\s*\d+(?:px)?\s*$/.test(length) && Number.parseInt(length, 10) <= 10

const foreign = /(?:^|[-_])(?:ads?|advert\w*|banner|captcha|recaptcha|chat|comments?|consent|cookie|gtm|login|newsletter|player|share|social|sso|tracking|video|widget)(?:[-_]|$)/i // prettier-ignore

const isForeign = (frame: ElementNode): boolean =>
  [attribute(frame, 'id'), attribute(frame, 'name'), ...classes(frame)].some((name) => foreign.test(name))

/** The address of a frame of the page's own origin. */
function addressOf(frame: ElementNode, base: string, url: string): string | undefined {
  const source = attribute(frame, 'src').trim()
  const address = source === '' ? undefined : resolveUrl(source, base)
  if (address === undefined || !/^https?:/.test(address)) return undefined
  const [own, asked] = [new URL(url), new URL(address)]
  own.hash = asked.hash = ''
  return own.origin === asked.origin && own.href !== asked.href ? asked.href : undefined
}
