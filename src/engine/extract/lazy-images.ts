/** Images that a page shows without scripts only: the real ones beside the placeholders of a lazy loader. */
import { imageAddress } from './address.ts'
import { type ElementNode, elementsOf, findElement, isElement, type TreeNode } from './tree.ts'

/** Returns a tree whose `<noscript>` images are in the places of their placeholders; the same tree if there are none. */
export function withLazyImages(root: ElementNode): ElementNode {
  const isNoscript = ({ tag }: ElementNode) => tag === 'noscript'
  if (!findElement(root, isNoscript)) return root
  const shown = new Set<string>()
  for (const element of elementsOf(root, (inner) => !isNoscript(inner))) {
    if (element.tag === 'img') shown.add(addressOf(element) ?? '')
  }
  return replaced(root, shown)
}

/** `shown` has the addresses of the images that need no replacement. */
function replaced(element: ElementNode, shown: ReadonlySet<string>): ElementNode {
  const children: TreeNode[] = []
  for (const [at, child] of element.children.entries()) {
    if (!isElement(child)) children.push(child)
    else if (child.tag !== 'noscript') children.push(replaced(child, shown))
    else {
      const image = onlyImageOf(child)
      if (image && !shown.has(addressOf(image)!) && !isOffered(solidAfter(element, at)))
        showImage(children, child, image)
      else children.push(child)
    }
  }
  return { ...element, children }
}

/** Puts the image into the place of the placeholder before it, unless that offers an image itself. */
function showImage(before: TreeNode[], noscript: ElementNode, image: ElementNode): void {
  const at = before.findLastIndex(isSolid)
  const placeholder = at < 0 ? undefined : pictureIn(before[at]!)
  if (placeholder && addressOf(placeholder) !== undefined) return
  if (!placeholder && !isPicture(image)) return
  if (placeholder) before.length = at
  before.push({ ...noscript, tag: 'span', attributes: {} })
}

function solidAfter({ children }: ElementNode, index: number): TreeNode | undefined {
  for (let at = index + 1; at < children.length; at++) if (isSolid(children[at]!)) return children[at]
  return undefined
}

const isSolid = (node: TreeNode): boolean => isElement(node) || node.text.trim() !== ''

/** Whether a node shows an image. */
function isOffered(node: TreeNode | undefined): boolean {
  const picture = node && pictureIn(node)
  return picture !== undefined && addressOf(picture) !== undefined
}

const addressOf = (image: ElementNode): string | undefined => imageAddress(image, 'https://x.invalid/')

/** The image that a node is, or begins with. */
function pictureIn(node: TreeNode): ElementNode | undefined {
  if (!isElement(node)) return undefined
  return node.tag === 'img' ? node : findElement(node, ({ tag }) => tag === 'img', ({ tag }) => tag !== 'noscript') // prettier-ignore
}

/** The image that is all there is in an element; a counter of visits is none. */
function onlyImageOf(element: ElementNode): ElementNode | undefined {
  const images: ElementNode[] = []
  for (const inside of elementsOf(element)) {
    if (inside.children.some((child) => !isElement(child) && isSolid(child))) return undefined
    if (inside.tag === 'img') images.push(inside)
  }
  const [image] = images
  return images.length === 1 && image && addressOf(image) !== undefined ? image : undefined
}

/** Whether an image without a placeholder is one to look at, by its address. */
const isPicture = (image: ElementNode): boolean =>
  /\.(?:jpe?g|png|webp|avif|svg|jxl|heic)(?:$|[?#])/i.test(addressOf(image) ?? '') &&
  !/display\s*:\s*none/i.test(image.attributes['style'] ?? '')
