/** Whether an element is at rest: Playwright compares its box in two frames, which takes both of them. */
import { UnclearInPage } from './find.page.ts'

/** A script that moves elements changes the document in each frame. */
const quietFrames = 2
/** The same for a hidden document, which has no frames. */
const quietMs = 40
/** Time without an action after which the document is no longer observed. */
const idleMs = 5000
/** Maximum time for a frame; hidden pages have none. */
const frameMs = 100

/** When the document last changed in a way that can move elements, by `performance.now()`. */
let disturbedAt = 0
/** Frames to wait for since then. */
let framesLeft = 0
let isCounting = false
let observer: MutationObserver | null = null
let idle: ReturnType<typeof setTimeout>

function disturb(): void {
  disturbedAt = performance.now()
  framesLeft = quietFrames
  if (!isCounting) countFrame()
}

/** Counts frames, and not time: on a busy machine a frame takes long. */
function countFrame(): void {
  isCounting = true
  requestAnimationFrame(() => {
    framesLeft -= 1
    if (framesLeft > 0) countFrame()
    else isCounting = false
  })
}

const isQuiet = (): boolean => (document.hidden ? performance.now() - disturbedAt > quietMs : framesLeft <= 0)

/** Texts are left out: a click that counts something would disturb the next one. */
const canMove = ({ type, addedNodes, removedNodes }: MutationRecord): boolean =>
  type === 'attributes' || [...addedNodes, ...removedNodes].some(({ nodeType }) => nodeType === 1)

function onMutations(records: MutationRecord[]): void {
  if (records.some(canMove)) disturb()
}

/** Observes a new document from its start, so that the first action need not wait for a frame. */
export function observeFromStart(): void {
  // Actions on frames are left to Playwright.
  if (document.readyState !== 'loading' || self !== top) return
  disturbedAt = -Infinity
  // The parser adds elements, but does not change attributes: scripts do.
  start({ subtree: true, attributes: true })
  document.addEventListener('DOMContentLoaded', () => observer?.observe(document, everything), { once: true })
}

/** Observes the document from now on. */
function observe(): void {
  if (!observer) {
    disturb()
    return start(everything)
  }
  onMutations(observer.takeRecords())
  stopLater()
}

const everything: MutationObserverInit = { subtree: true, childList: true, attributes: true }

function start(changes: MutationObserverInit): void {
  observer = new MutationObserver(onMutations)
  observer.observe(document, changes)
  addEventListener('scroll', disturb, { capture: true, passive: true })
  addEventListener('resize', disturb, { passive: true })
  stopLater()
}

function stopLater(): void {
  clearTimeout(idle)
  idle = setTimeout(stop, idleMs)
}

function stop(): void {
  observer?.disconnect()
  observer = null
  removeEventListener('scroll', disturb, { capture: true })
  removeEventListener('resize', disturb)
}

/** Returns once an element is at rest; rejects when it moves. */
export async function untilStill(element: Element): Promise<void> {
  observe()
  checkAnimations(element)
  if (document.readyState === 'complete' && isQuiet() && !isSlotted(element)) return
  const before = element.getBoundingClientRect()
  await nextFrame()
  const after = element.getBoundingClientRect()
  if ((['x', 'y', 'width', 'height'] as const).some((side) => before[side] !== after[side]))
    throw new UnclearInPage('it moves')
  checkAnimations(element)
}

/** Returns whether an element is placed by a shadow tree, whose changes and animations are not observed. */
function isSlotted(element: Element): boolean {
  for (let outer = element.parentElement; outer; outer = outer.parentElement)
    // Custom elements may have closed shadow trees.
    if (outer.shadowRoot || outer.localName.includes('-')) return true
  return false
}

function nextFrame(): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new UnclearInPage('no frame')), frameMs)
    requestAnimationFrame(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

function checkAnimations(element: Element): void {
  if (document.getAnimations().some((animation) => mayMove(animation, element)))
    throw new UnclearInPage('an animation runs')
}

const paint =
  /^(?:offset|computedOffset|easing|composite|opacity|color|fill|filter|stroke\w*|outline\w*|caretColor|accentColor|background(?!Attachment)\w*|backdropFilter|border\w*Color|boxShadow|textShadow|textDecoration\w*)$/
const transforms = /^(?:transform|translate|rotate|scale|offsetDistance)$/

/** Returns whether a running animation may move an element: by its layout, or with an element around it. */
function mayMove({ playState, effect }: Animation, element: Element): boolean {
  if (playState !== 'running' || !effect) return false
  if (!(effect instanceof KeyframeEffect)) return true
  const { target } = effect
  if (!target) return false
  const names = effect.getKeyframes().flatMap((frame) => Object.keys(frame))
  const moving = names.filter((name) => !paint.test(name))
  if (moving.length === 0) return false
  return target.contains(element) || moving.some((name) => !transforms.test(name))
}
