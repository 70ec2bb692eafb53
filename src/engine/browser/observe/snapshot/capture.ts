/** Captures the accessibility tree of a page, measures its elements, and assigns references. */
import type { Locator, Page } from 'playwright'
import { BaxError } from '../../../../core/errors/errors.ts'
import { limits } from '../../../../core/limits/limits.ts'
import type { CallLimit } from '../../../../core/operation/command.ts'
import {
  type AriaNode,
  type Box,
  type Children,
  hiddenValue,
  type Mark,
  needsPosition,
  nodesWithRef,
  type Writable,
} from './aria.ts'
import type { ElementFacts, Mark as RawMark, Measured, Named, PageFacts } from './elements.page.ts'
import type { Revealed } from './inline.page.ts'
import elementsScript from './elements.page.ts?inline'
import { checkFlags, showChecks } from './check-labels.ts'
import { bits } from './flag-bits.ts'
import { separateHidden } from './hidden-text.ts'
import { keepRefs, nextNumber, takeNumbers } from '../../elements/refs.ts'
import { isInterrupted } from '../../page/playwright-errors.ts'
import { revealClosedRoots, revealListeners } from '../listeners.ts'
import { nameByTooltips, removeIcons } from './icons.ts'
import { showOmitted } from './omitted/show-omitted.ts'
import { treeOf, treeTooLarge, wholeTree } from './whole-tree.ts'
import { forgetWorlds, knownWorlds, listWorlds, type World, WorldGone } from '../worlds.ts'

/** A page at one moment. */
export interface Capture {
  readonly facts: PageFacts
  /** ID of the main document. */
  readonly document: string
  /** The requested part. */
  readonly tree: Children
  /** The whole page. */
  readonly all: Children
  readonly marks: ReadonlyMap<string, Mark>
  /** Names of the tools that the documents offer. */
  readonly tools: readonly string[]
  /** Assigns references to elements by Playwright's, and returns details of some; existing references stay. */
  name(refs: readonly string[], detailed: readonly string[]): Promise<NamedElements>
}

export interface NamedElements {
  /** `e12` by Playwright's reference. */
  readonly numbers: ReadonlyMap<string, string>
  readonly facts: ReadonlyMap<string, ElementFacts>
}

/** Number of attempts when the document is replaced meanwhile. */
const attempts = 3

export interface CaptureOptions {
  /** Limits the capture to this element. */
  readonly root?: Locator | undefined
  /** Whether to measure all elements, not only those that an outline needs. */
  readonly everything: boolean
  readonly limit: CallLimit
}

/** Captures a page. @throws BaxError `navigation_aborted` for a page that keeps navigating. */
export async function capture(page: Page, options: CaptureOptions): Promise<Capture> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await captureOnce(page, options)
    } catch (error) {
      if (!isInterrupted(error) || attempt === attempts) throw error
      forgetWorlds(page)
    }
  }
}

async function captureOnce(page: Page, { root, everything, limit }: CaptureOptions): Promise<Capture> {
  const content = await reveal(page)
  const hasBody = content === 'none' ? false : content !== 'later' || (await getsBody(page))
  const unnamed: AriaNode[] = []
  const part = hasBody && root ? removeIcons(await treeOf(root, limit), unnamed) : undefined
  // References are valid for the last snapshot only, so the whole page comes last.
  const top = content === 'root' ? 'root' : 'body'
  const whole = hasBody ? await wholeTree(page, top, limit).catch(unlessTooLarge) : []
  const all = whole ? removeIcons(whole, unnamed) : part
  if (!all) throw treeTooLarge()
  const refs = [...nodesWithRef(all)].filter((node) => everything || needsPosition(node)).map(({ ref }) => ref)
  const found = await measureAll(page, { refs, unnamed: unnamed.flatMap(({ ref }) => ref ?? []) })
  const main = found.find(({ measured }) => measured.page !== null)?.measured
  const facts = main?.page
  if (!facts) throw new WorldGone()
  const raw = new Map(found.flatMap(({ measured }) => measured.marks.map((mark) => [mark[0], mark])))
  const contents = new Map(found.flatMap(({ measured }) => measured.contents.map((one) => [one[0], one] as const)))
  nameByTooltips(unnamed, new Map(found.flatMap(({ measured }) => measured.tooltips)))
  const omitted = found.flatMap(({ measured }) => measured.omitted)
  for (const nodes of new Set([all, part ?? all])) showOmitted(nodes, omitted, raw)
  const marks = placeMarks(all, raw, contents, facts)
  const visible = separateHidden(all, marks)
  const tree = part && part !== all ? separateHidden(part, marks) : visible
  for (const node of new Set([...visible, ...tree])) {
    if (typeof node === 'string') continue
    hideSecrets(node, marks)
    showChecks(node, marks)
  }
  return {
    facts,
    document: main.document,
    tree,
    all: visible,
    marks,
    tools: [...new Set(found.flatMap(({ measured }) => measured.tools))].toSorted(),
    name: (refs, detailed) => nameAll(page, found, refs, detailed),
  }
}

/** Returns undefined for a page that is too large, of which a part may be observed. */
function unlessTooLarge(error: unknown): undefined {
  if (!(error instanceof BaxError && error.code === 'content_too_large')) throw error
}

/** Makes what can be clicked, and hidden text, part of the next snapshot; returns where the content of the page is. */
async function reveal(page: Page): Promise<Revealed['content']> {
  try {
    const worlds = await knownWorlds(page)
    return await revealIn(worlds.length < page.frames().length ? await listWorlds(page) : worlds)
  } catch (error) {
    if (!(error instanceof WorldGone)) throw error
    return revealIn(await listWorlds(page))
  }
}

async function revealIn(worlds: readonly World[]): Promise<Revealed['content']> {
  await revealListeners(worlds)
  const revealAll = async () =>
    Promise.all(worlds.map((world) => world.call<Revealed>(elementsScript, 'revealInline', undefined)))
  let revealed = await revealAll()
  // A closed shadow root can contain others.
  for (let depth = 1; depth <= maxDepth && revealed.some(({ mayHaveClosed }) => mayHaveClosed); depth++) {
    await revealClosedRoots(worlds)
    if (depth < maxDepth) revealed = await revealAll()
  }
  const [main] = revealed
  if (!main) throw new WorldGone()
  return main.content
}

/** Maximum depth of closed shadow roots inside each other. */
const maxDepth = 5

/** Waits for the body of a document that is being parsed; a script in its head may never arrive. */
async function getsBody(page: Page): Promise<boolean> {
  try {
    await page.waitForSelector('body', { state: 'attached', timeout: limits.observe.parseMs })
    return true
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error
    return false
  }
}

async function measureAll(
  page: Page,
  input: { readonly refs: readonly string[]; readonly unnamed: readonly string[] },
) {
  const measureIn = async (worlds: readonly World[]) =>
    Promise.all(
      worlds.map(async (world) => ({ world, measured: await world.call<Measured>(elementsScript, 'measure', input) })),
    )
  const found = await measureIn(await knownWorlds(page))
  const count = found.reduce((sum, { measured }) => sum + measured.found, 0)
  // Missing elements are in a document that was added since.
  return count < input.refs.length ? measureIn(await listWorlds(page)) : found
}

async function nameAll(
  page: Page,
  found: Awaited<ReturnType<typeof measureAll>>,
  refs: readonly string[],
  detailed: readonly string[],
): Promise<NamedElements> {
  const context = page.context()
  const numbers = new Map<string, string>()
  const facts = new Map<string, ElementFacts>()
  for (const { world, measured } of found) {
    const here = new Set(measured.marks.map(([ref]) => ref))
    const own = (list: readonly string[]) => list.filter((ref) => here.has(ref))
    if (measured.remembered === 0) continue
    const input = { refs: own(refs), next: nextNumber(context), detailed: own(detailed) }
    const named = await world.call<Named>(elementsScript, 'name', input)
    takeNumbers(context, named.next)
    for (const [ref, number] of named.numbers) numbers.set(ref, `e${number}`)
    for (const [ref, fact] of named.facts) facts.set(ref, fact)
  }
  keepRefs(page, new Map([...numbers].map(([theirs, ours]) => [ours, theirs])))
  return { numbers, facts }
}

type Content = Measured['contents'][number]

interface FrameView {
  /** Visible area of the document, in the page's coordinates, which starts at the document's origin. */
  readonly visible: Box
  readonly frames: readonly string[]
  /** Whether the whole document is inaccessible. */
  readonly blocked: boolean
}

/** Converts the boxes inside frames to coordinates of the page. */
function placeMarks(
  tree: Children,
  raw: ReadonlyMap<string, RawMark>,
  contents: ReadonlyMap<string, Content>,
  { viewport: { width, height } }: PageFacts,
): Map<string, Mark> {
  const marks = new Map<string, Mark>()
  const visit = (nodes: Children, view: FrameView) => {
    for (const node of nodes) {
      if (typeof node === 'string') continue
      const own = node.ref === undefined ? undefined : raw.get(node.ref)
      const mark = own && placed(own, view, contents.get(node.ref!))
      if (mark) marks.set(node.ref!, mark)
      const inside =
        node.role === 'iframe' && mark
          ? { visible: mark.box, frames: [...mark.frames, node.ref!], blocked: mark.blocked }
          : view
      visit(node.children ?? [], inside)
    }
  }
  visit(tree, { visible: { x: 0, y: 0, width, height }, frames: [], blocked: false })
  return marks
}

function placed([, flags, x, y, width, height, outer]: RawMark, view: FrameView, content: Content | undefined): Mark {
  const { visible, frames, blocked } = view
  const { x: dx, y: dy } = visible
  const box = { x: x + dx, y: y + dy, width, height }
  const borders = outer && { x: outer[0] + dx, y: outer[1] + dy, width: outer[2], height: outer[3] }
  return {
    box,
    ...(borders && { outer: borders }),
    away: Math.round(gap(box.x, width, visible.x, visible.width) + gap(box.y, height, visible.y, visible.height)),
    usable: (flags & bits.usable) !== 0,
    secret: (flags & bits.secret) !== 0,
    focused: (flags & bits.focused) !== 0,
    modal: (flags & bits.modal) !== 0,
    blocked: blocked || (flags & bits.blocked) !== 0,
    editor: (flags & bits.editor) !== 0,
    decoy: (flags & bits.decoy) !== 0,
    outside: (flags & bits.outside) !== 0,
    ...((flags & bits.hidden) !== 0 && { hidden: true as const }),
    ...(content && { content: content[1], ...(!content[2] && { partial: true as const }) }),
    ...checkFlags(flags),
    frames,
  }
}

/** Removes the values of password fields from names that are derived from content; returns the values. */
function hideSecrets(node: Writable<AriaNode>, marks: ReadonlyMap<string, Mark>): string[] {
  if (node.ref !== undefined && marks.get(node.ref)?.secret) return node.text ? [node.text] : []
  const secrets = (node.children ?? []).flatMap((child) => (typeof child === 'string' ? [] : hideSecrets(child, marks)))
  for (const secret of secrets) if (node.name) node.name = node.name.replaceAll(secret, hiddenValue)
  return secrets
}

/** Returns the distance between two ranges; touching ones do not overlap. */
function gap(start: number, length: number, from: number, size: number): number {
  if (start + length <= from) return from - start - length + 1
  return start >= from + size ? start - from - size + 1 : 0
}
