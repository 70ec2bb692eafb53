/** Restores lazily loaded images: `<noscript>` contains the real ones next to their placeholders. */
import { imageUrl } from './urls.ts'
import { type ElementNode, elementsOf, findElement, isElement, type TreeNode } from './tree.ts'

/** Replaces placeholders with their `<noscript>` images; returns the same tree if there are none. */
export function withLazyImages(root: ElementNode): ElementNode {
  const isNoscript = ({ tag }: ElementNode) => tag === 'noscript'
  if (!findElement(root, isNoscript)) return root
  const shown = new Set<string>()
  for (const element of elementsOf(root, (inner) => !isNoscript(inner))) {
    if (element.tag === 'img') shown.add(urlOf(element) ?? '')
  }
  return replaced(root, shown)
}

/** `shown` contains the URLs of the images that need no replacement. */
function replaced(element: ElementNode, shown: ReadonlySet<string>): ElementNode {
  const children: TreeNode[] = []
  for (const [at, child] of element.children.entries()) {
    if (!isElement(child)) children.push(child)
    else if (child.tag !== 'noscript') children.push(replaced(child, shown))
    else {
      const image = onlyImageOf(child)
      if (image && !shown.has(urlOf(image)!) && !hasImage(solidAfter(element, at))) showImage(children, child, image)
      else children.push(child)
    }
  }
  return { ...element, children }
}

/** Replaces the placeholder before the image, unless it has an image of its own. */
function showImage(before: TreeNode[], noscript: ElementNode, image: ElementNode): void {
  const at = before.findLastIndex(isSolid)
  const placeholder = at < 0 ? undefined : imageIn(before[at]!)
  if (placeholder && urlOf(placeholder) !== undefined) return
  if (!placeholder && !isImageFile(image)) return
  if (placeholder) before.length = at
  before.push({ ...noscript, tag: 'span', attributes: {} })
}

function solidAfter({ children }: ElementNode, index: number): TreeNode | undefined {
  for (let at = index + 1; at < children.length; at++) if (isSolid(children[at]!)) return children[at]
  return undefined
}

const isSolid = (node: TreeNode): boolean => isElement(node) || node.text.trim() !== ''

/** Whether a node shows an image. */
function hasImage(node: TreeNode | undefined): boolean {
  const image = node && imageIn(node)
  return image !== undefined && urlOf(image) !== undefined
}

const urlOf = (image: ElementNode): string | undefined => imageUrl(image, 'https://x.invalid/')

/** Returns the image that a node is, or begins with. */
function imageIn(node: TreeNode): ElementNode | undefined {
  if (!isElement(node)) return undefined
  return node.tag === 'img'
    ? node
    : findElement(
        node,
        ({ tag }) => tag === 'img',
        ({ tag }) => tag !== 'noscript',
      )
}

/** Returns the image that is the only content of an element; tracking pixels do not count. */
function onlyImageOf(element: ElementNode): ElementNode | undefined {
  const images: ElementNode[] = []
  for (const inside of elementsOf(element)) {
    if (inside.children.some((child) => !isElement(child) && isSolid(child))) return undefined
    if (inside.tag === 'img') images.push(inside)
  }
  const [image] = images
  return images.length === 1 && image && urlOf(image) !== undefined ? image : undefined
}

/** Whether an image without a placeholder is a visible image file, by its URL and style. */
const isImageFile = (image: ElementNode): boolean =>
  /\.(?:jpe?g|png|webp|avif|svg|jxl|heic)(?:$|[?#])/i.test(urlOf(image) ?? '') &&
  !/display\s*:\s*none/i.test(image.attributes['style'] ?? '')
