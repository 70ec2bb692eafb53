/** Parses the XML of office documents into small trees. Entities of a DTD are not expanded, and nothing is loaded. */
import { Parser } from 'htmlparser2'
import { limits } from '../../../../core/limits/limits.ts'
import { type ElementNode, isElement, maxDepth, type TreeNode } from '../../../extract/tree.ts'
import { OfficeError } from './office-error.ts'
import type { ZipArchive } from './zip.ts'

/** Returns the local part of a name; relationships (`r:id`) keep their prefix, because `id` exists too. */
const localName = (name: string): string => (name.startsWith('r:') ? name : name.slice(name.indexOf(':') + 1))

/** Parses XML; deeper elements than `maxDepth` are attached to the level above. @throws OfficeError `large` */
function parseXml(text: string): ElementNode {
  const root: ElementNode = { tag: '', attributes: {}, children: [] }
  const open: ElementNode[] = [root]
  let nodes = 0
  let depth = 0
  const add = (node: TreeNode) => {
    if (++nodes > limits.office.nodes)
      throw new OfficeError('large', `the document has more than ${limits.office.nodes} elements`)
    open.at(-1)!.children.push(node)
  }
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const entries = Object.entries(attributes).map(([key, value]) => [localName(key), value] as const)
        const node: ElementNode = { tag: localName(name), attributes: Object.fromEntries(entries), children: [] }
        add(node)
        // The parser slows down with the depth.
        if (depth > limits.office.levels) throw new OfficeError('large', 'its elements are nested too deeply')
        if (++depth < maxDepth) open.push(node)
      },
      onclosetag() {
        if (depth-- < maxDepth) open.pop()
      },
      ontext(part) {
        const last = open.at(-1)!.children.at(-1)
        if (last && !isElement(last))
          open.at(-1)!.children[open.at(-1)!.children.length - 1] = { text: last.text + part }
        else add({ text: part })
      },
    },
    { xmlMode: true, recognizeSelfClosing: true },
  )
  parser.end(text)
  return root
}

/** Returns the parsed XML of a file in an archive; undefined if it is missing. */
export async function xmlOf(zip: ZipArchive, name: string): Promise<ElementNode | undefined> {
  const text = await zip.text(name)
  return text === undefined ? undefined : parseXml(text)
}

/** Returns the parsed XML of a necessary file. @throws OfficeError `broken` */
export async function requiredXml(zip: ZipArchive, name: string): Promise<ElementNode> {
  const found = await xmlOf(zip, name)
  if (found) return found
  throw new OfficeError('broken', `${name} is missing`)
}

/** Returns the first element with a name, at any depth. */
export function first(node: ElementNode | undefined, tag: string): ElementNode | undefined {
  for (const child of node?.children ?? []) {
    if (!isElement(child)) continue
    if (child.tag === tag) return child
    const found = first(child, tag)
    if (found) return found
  }
  return undefined
}

/** Returns all elements with a name, at any depth, but not inside each other. */
export function all(node: ElementNode | undefined, tag: string): ElementNode[] {
  const found: ElementNode[] = []
  const visit = (inner: ElementNode) => {
    for (const child of inner.children) {
      if (!isElement(child)) continue
      if (child.tag === tag) found.push(child)
      else visit(child)
    }
  }
  if (node) visit(node)
  return found
}

export const children = (node: ElementNode | undefined, tag?: string): ElementNode[] =>
  (node?.children ?? []).filter(
    (child): child is ElementNode => isElement(child) && (tag === undefined || child.tag === tag),
  )

export const child = (node: ElementNode | undefined, tag: string): ElementNode | undefined => children(node, tag)[0]

/** Returns the text of an element and everything in it. */
export const textOf = (node: ElementNode | undefined): string =>
  (node?.children ?? []).map((inner) => (isElement(inner) ? textOf(inner) : inner.text)).join('')

/** Targets of relationships by ID: paths in the archive, or external URLs. */
export type Relations = ReadonlyMap<
  string,
  { readonly target: string; readonly isExternal: boolean; readonly type: string }
>

export async function relationsOf(zip: ZipArchive, part: string): Promise<Relations> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1)
  const relations = await xmlOf(zip, `${folder}_rels/${part.slice(folder.length)}.rels`)
  return new Map(
    all(relations, 'Relationship').map(({ attributes: { Id = '', Target = '', TargetMode, Type = '' } }) => {
      const isExternal = TargetMode === 'External'
      return [Id, { target: isExternal ? Target : pathIn(folder, Target), isExternal, type: Type.replace(/.*\//, '') }]
    }),
  )
}

/** Returns the path of the main part, which may have any name. */
export async function mainPart(zip: ZipArchive, usual: string): Promise<string> {
  const found = [...(await relationsOf(zip, '')).values()].find(({ type }) => type === 'officeDocument')
  return found && zip.has(found.target) ? found.target : usual
}

/** Resolves a path in an archive. */
export function pathIn(folder: string, target: string): string {
  const url = new URL(encodeURI(target).replaceAll('%25', '%'), `file:///${folder}`)
  return url.protocol === 'file:' ? safeDecode(url.pathname.slice(1)) : target
}

function safeDecode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Returns title, author and other facts of `docProps/core.xml`. */
export async function coreFacts(zip: ZipArchive): Promise<Record<string, string | undefined>> {
  const core = await xmlOf(zip, 'docProps/core.xml')
  const word = (tag: string) => textOf(first(core, tag)).trim() || undefined
  return {
    title: word('title'),
    description: word('description') ?? word('subject'),
    author: word('creator'),
    language: word('language'),
    published: word('created'),
    modified: word('modified'),
  }
}

/** Whether a link leads to the web or to a mailbox; others lead into the document. */
export const isWebLink = (href: string): boolean => /^(?:https?|mailto|tel|ftp):/i.test(href)
