/**
 * Inserts the content of frames into their page: frames with `srcdoc` and frames of the page's own origin. Their
 * scripts do not run. Frames of other origins (players, maps, advertisements) are omitted.
 */
import { BaxError } from '../../../core/errors/errors.ts'
import { resolveUrl } from '../../extract/urls.ts'
import { treeFromHtml } from '../../extract/html-tree.ts'
import { withAbsoluteUrls } from '../../extract/live-tree.ts'
import { attribute, classes, type ElementNode, isElement, type Tree, type TreeNode } from '../../extract/tree.ts'

/** Fetches the document of a frame; undefined when it cannot be read, or was redirected to another origin. */
export type GetFrame = (url: string) => Promise<Tree | undefined>

/** Maximum number of frames of a page, and maximum nesting of frames. */
const maxFrames = 8
const maxDepth = 2

/** Replaces the frames of a tree with their content; returns warnings about frames that could not be read. */
export async function fillFrames(tree: Tree, url: string, get: GetFrame, depth = 0): Promise<string[]> {
  const fill = async ({ frame, parent }: FrameSlot): Promise<string[]> => {
    const source = frame.attributes['srcdoc']
    const frameUrl = source === undefined ? ownFrameUrl(frame, tree.baseUrl, url) : url
    if (frameUrl === undefined) return []
    let content: Tree | undefined
    try {
      content = source === undefined ? await get(frameUrl) : treeFromHtml(source, tree.baseUrl)
    } catch (error) {
      if (!(error instanceof BaxError) || error.status !== 200) throw error
      return [`could not read a frame of the page (${new URL(frameUrl).pathname}): ${error.message}`]
    }
    if (!content) return []
    const warnings = depth + 1 < maxDepth ? await fillFrames(content, frameUrl, get, depth + 1) : []
    const body = content.root.children.filter(isElement).find(({ tag }) => tag === 'body' || tag === 'frameset')
    const children = withAbsoluteUrls({ ...content, root: body ?? content.root }).children.filter(isShown)
    parent.children[parent.children.indexOf(frame)] = { tag: 'div', attributes: {}, children }
    return warnings
  }
  return (await Promise.all(slotsOf(tree.root).slice(0, maxFrames).map(fill))).flat()
}

/** Whether a page has frames that `fillFrames` replaces. */
export const hasOwnFrames = ({ root, baseUrl }: Tree, url: string): boolean =>
  slotsOf(root)
    .slice(0, maxFrames)
    .some(({ frame }) => frame.attributes['srcdoc'] !== undefined || ownFrameUrl(frame, baseUrl, url) !== undefined)

type FrameSlot = Readonly<Record<'frame' | 'parent', ElementNode>>

/** Whether a node of a frame is kept: its scripts do not run, and would mislead the detection of scripted pages. */
const isShown = (node: TreeNode): boolean => !isElement(node) || (node.tag !== 'script' && node.tag !== 'noscript')

const closed = new Set(['noscript', 'template', 'head', 'nav', 'header', 'footer', 'aside'])

/** Returns visible frames with content, and their parents. */
function slotsOf(root: ElementNode): FrameSlot[] {
  const slots: FrameSlot[] = []
  const visit = (parent: ElementNode): void => {
    for (const child of parent.children) {
      if (!isElement(child) || closed.has(child.tag)) continue
      if (child.tag !== 'iframe' && child.tag !== 'frame') visit(child)
      else if (isVisible(child) && !isForeign(child)) slots.push({ frame: child, parent })
    }
  }
  visit(root)
  return slots
}

function isVisible({ attributes }: ElementNode): boolean {
  const { hidden, width = '', height = '', style = '' } = attributes
  if (hidden !== undefined || attributes['aria-hidden'] === 'true') return false
  if (/display\s*:\s*none|visibility\s*:\s*hidden|(?:^|[\s;])(?:width|height)\s*:\s*[01](?:px)?\s*(?:;|$)/i.test(style))
    return false
  return !isTiny(width) && !isTiny(height)
}

/** Whether a size is that of a tracking or login frame, which are a few pixels large. */
const isTiny = (length: string): boolean => /^\s*\d+(?:px)?\s*$/.test(length) && Number.parseInt(length, 10) <= 10

const foreign =
  /(?:^|[-_])(?:ads?|advert\w*|banner|captcha|recaptcha|chat|comments?|consent|cookie|gtm|login|newsletter|player|share|social|sso|tracking|video|widget)(?:[-_]|$)/i

const isForeign = (frame: ElementNode): boolean =>
  [attribute(frame, 'id'), attribute(frame, 'name'), ...classes(frame)].some((name) => foreign.test(name))

/** Returns the URL of a frame of the page's own origin. */
function ownFrameUrl(frame: ElementNode, base: string, url: string): string | undefined {
  const source = attribute(frame, 'src').trim()
  const frameUrl = source === '' ? undefined : resolveUrl(source, base)
  if (frameUrl === undefined || !/^https?:/.test(frameUrl)) return undefined
  const [own, target] = [new URL(url), new URL(frameUrl)]
  own.hash = target.hash = ''
  return own.origin === target.origin && own.href !== target.href ? target.href : undefined
}
