/**
 * Events of images. If the browser loads no images, those that a script listens to still get events and sizes. If it
 * does, those that a script listens to are loaded without scrolling.
 */
import type { Activity } from './activity.page.ts'
import { imageCheck, type ImageFacts } from './image-check.page.ts'

interface Images {
  /** Called when a script waits for the image. */
  expect(image: HTMLImageElement): void
  /** Called when the source of the image changes. */
  change(image: HTMLImageElement): void
}

/** Watches the images of a page; returns a function to call with every element that a script adds. */
export function watchImages(activity: Activity, areLoaded: boolean): (added: Element) => void {
  const images = areLoaded ? loadedImages(activity) : unloadedImages(activity)
  let selector = 'img[onload],img[onerror]'
  const expectAll = (root: ParentNode): void => {
    for (const image of root.querySelectorAll<HTMLImageElement>(selector)) images.expect(image)
  }
  watchSources(images)
  watchListeners(HTMLImageElement.prototype, (image) => images.expect(image as HTMLImageElement))
  // These events do not bubble, so scripts listen for the events of all images in the capture phase.
  for (const target of [Document.prototype, globalThis]) {
    watchListeners(target, (_, options) => {
      if (!(typeof options === 'object' ? options.capture : options)) return
      selector = 'img'
      if (document.readyState !== 'loading') expectAll(document)
    })
  }
  document.addEventListener('DOMContentLoaded', () => expectAll(document))
  return (added) => {
    if (added.matches(selector)) images.expect(added as HTMLImageElement)
    else if (added.firstElementChild) expectAll(added)
  }
}

/** Calls back when a script adds a listener for `load` or `error`. */
function watchListeners(
  target: Pick<EventTarget, 'addEventListener'>,
  onListener: (target: unknown, options?: boolean | AddEventListenerOptions) => void,
): void {
  const { addEventListener } = EventTarget.prototype
  target.addEventListener = function (this: EventTarget, ...args: Parameters<typeof addEventListener>) {
    // A call without a target means the window.
    Reflect.apply(addEventListener, this ?? globalThis, args)
    if (args[0] === 'load' || args[0] === 'error') onListener(this, args[2])
  }
}

/** Watches handlers and sources that are set as properties or attributes. */
function watchSources(images: Images): void {
  const image = HTMLImageElement.prototype
  const onSet = (owner: object, name: string, onChange: (image: HTMLImageElement) => void): void => {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name)!
    const set = function (this: HTMLImageElement, value: unknown): void {
      descriptor.set!.call(this, value)
      onChange(this)
    }
    Object.defineProperty(image, name, { ...descriptor, set })
  }
  for (const name of ['onload', 'onerror']) onSet(HTMLElement.prototype, name, (one) => images.expect(one))
  for (const name of ['src', 'srcset']) onSet(image, name, (one) => images.change(one))
  const { setAttribute } = Element.prototype
  image.setAttribute = function (name, value) {
    setAttribute.call(this, name, value)
    if (/^on(?:load|error)$/i.test(name)) images.expect(this)
    else if (/^src(?:set)?$/i.test(name)) images.change(this)
  }
}

function loadedImages(activity: Activity): Images {
  const seen = new WeakSet<HTMLImageElement>()
  const expect = (image: HTMLImageElement): void => {
    if (seen.has(image)) return
    seen.add(image)
    if (image.loading === 'lazy') image.loading = 'eager'
    if (image.complete) return
    const end = activity.expect()
    for (const event of ['load', 'error']) image.addEventListener(event, end, { once: true })
  }
  return { expect, change() {} }
}

interface ImageState {
  readonly url: string
  readonly check: Promise<ImageFacts>
  facts?: ImageFacts
}

function unloadedImages(activity: Activity): Images {
  const check = imageCheck()
  const expected = new WeakSet<HTMLImageElement>()
  const states = new WeakMap<HTMLImageElement, ImageState>()
  /** Checks the source of the image and dispatches its event, once. */
  const load = (image: HTMLImageElement): ImageState | undefined => {
    const url = sourceOf(image)
    const existing = states.get(image)
    if (url === '' || existing?.url === url) return existing
    const end = activity.expect()
    const state: ImageState = { url, check: check(url) }
    states.set(image, state)
    const finish = (facts: ImageFacts): void => {
      state.facts = facts
      if (states.get(image) === state) image.dispatchEvent(new Event(facts.isLoaded ? 'load' : 'error'))
    }
    void state.check.then(finish).finally(end)
    return state
  }
  const expect = (image: HTMLImageElement): ImageState | undefined => {
    expected.add(image)
    return load(image)
  }
  overrideProperties(expect)
  return {
    expect,
    change(image) {
      if (expected.has(image)) load(image)
    },
  }
}

/** Overrides the properties for the loading state and size of images. */
function overrideProperties(stateOf: (image: HTMLImageElement) => ImageState | undefined): void {
  const image = HTMLImageElement.prototype
  const define = (name: string, get: (this: HTMLImageElement) => unknown) =>
    Object.defineProperty(image, name, { get, configurable: true, enumerable: true })
  const size = (name: 'width' | 'height') =>
    function (this: HTMLImageElement): number {
      const { facts } = stateOf(this) ?? {}
      if (!facts?.isLoaded) return 0
      return facts[name] ?? (Number(this.getAttribute(name)) || assumedSize[name])
    }
  define('complete', function () {
    const state = stateOf(this)
    return state === undefined || state.facts !== undefined
  })
  define('naturalWidth', size('width'))
  define('naturalHeight', size('height'))
  image.decode = async function () {
    const facts = await stateOf(this)?.check
    if (!facts?.isLoaded) throw new DOMException('The source image cannot be decoded.', 'EncodingError')
  }
}

/** Assumed size of images of unknown size, larger than tracking pixels. */
const assumedSize = { width: 640, height: 480 }

/** Returns the URL that the browser would load, empty if there is none. */
function sourceOf(image: HTMLImageElement): string {
  const { currentSrc, src, srcset } = image
  const source = currentSrc || src || srcset.trim().split(/[\s,]/)[0]
  return source ? new URL(source, document.baseURI).href : ''
}
