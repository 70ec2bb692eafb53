/**
 * Events of images. Where images are not loaded, those that a script listens to get their events and sizes all the same;
 * where they are, those that a script listens to load without being scrolled to.
 */
import type { Activity } from './activity.page.ts'
import { imageCheck, type ImageFacts } from './image-check.page.ts'

interface Images {
  /** A script waits for the image. */
  expect(image: HTMLImageElement): void
  /** The image has another source. */
  change(image: HTMLImageElement): void
}

/** Watches the images of a page; returns what is to be called with every element that a script adds. */
export function watchImages(activity: Activity, areLoaded: boolean): (added: Element) => void {
  const images: Images = areLoaded ? new LoadedImages(activity) : new UnloadedImages(activity)
  let selector = 'img[onload],img[onerror]'
  const expectAll = (root: ParentNode): void => {
    for (const image of root.querySelectorAll<HTMLImageElement>(selector)) images.expect(image)
  }
  watchSources(images)
  watchListeners(HTMLImageElement.prototype, (image) => images.expect(image as HTMLImageElement))
  // These events do not bubble: who listens to those of all images does so on their way down.
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

type Listening = Pick<EventTarget, 'addEventListener'>

/** Calls back when somebody listens to `load` or `error`. */
function watchListeners(
  target: Listening,
  listened: (target: unknown, options?: boolean | AddEventListenerOptions) => void,
): void {
  const { addEventListener } = EventTarget.prototype
  target.addEventListener = function (this: EventTarget, ...given: Parameters<typeof addEventListener>) {
    // Called without a target it is that of the window.
    Reflect.apply(addEventListener, this ?? globalThis, given)
    if (given[0] === 'load' || given[0] === 'error') listened(this, given[2])
  }
}

/** Handlers and sources that are set as properties or as attributes. */
function watchSources(images: Images): void {
  const image = HTMLImageElement.prototype
  const onSet = (owner: object, name: string, then: (image: HTMLImageElement) => void): void => {
    const own = Object.getOwnPropertyDescriptor(owner, name)!
    const set = function (this: HTMLImageElement, value: unknown): void {
      own.set!.call(this, value)
      then(this)
    }
    Object.defineProperty(image, name, { ...own, set })
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

class LoadedImages implements Images {
  readonly #activity: Activity
  readonly #seen = new WeakSet<HTMLImageElement>()

  constructor(activity: Activity) {
    this.#activity = activity
  }

  expect(image: HTMLImageElement): void {
    if (this.#seen.has(image)) return
    this.#seen.add(image)
    if (image.loading === 'lazy') image.loading = 'eager'
    if (image.complete) return
    const end = this.#activity.expect()
    for (const event of ['load', 'error']) image.addEventListener(event, end, { once: true })
  }

  change(): void {}
}

interface ImageState {
  readonly url: string
  readonly check: Promise<ImageFacts>
  facts?: ImageFacts
}

class UnloadedImages implements Images {
  readonly #activity: Activity
  readonly #check = imageCheck()
  readonly #expected = new WeakSet<HTMLImageElement>()
  readonly #states = new WeakMap<HTMLImageElement, ImageState>()

  constructor(activity: Activity) {
    this.#activity = activity
    this.#answerQuestions()
  }

  expect(image: HTMLImageElement): void {
    this.#expected.add(image)
    this.#load(image)
  }

  change(image: HTMLImageElement): void {
    if (this.#expected.has(image)) this.#load(image)
  }

  /** Sends the event of the image's source, once. */
  #load(image: HTMLImageElement): ImageState | undefined {
    const url = sourceOf(image)
    const known = this.#states.get(image)
    if (url === '' || known?.url === url) return known
    const end = this.#activity.expect()
    const state: ImageState = { url, check: this.#check(url) }
    this.#states.set(image, state)
    const finish = (facts: ImageFacts): void => {
      state.facts = facts
      if (this.#states.get(image) === state) image.dispatchEvent(new Event(facts.isLoaded ? 'load' : 'error'))
    }
    void state.check.then(finish).finally(end)
    return state
  }

  /** Properties that tell whether an image has loaded, and how large it is. */
  #answerQuestions(): void {
    const image = HTMLImageElement.prototype
    const ask = (one: HTMLImageElement): ImageState | undefined => {
      this.#expected.add(one)
      return this.#load(one)
    }
    const define = (name: string, get: (this: HTMLImageElement) => unknown) =>
      Object.defineProperty(image, name, { get, configurable: true, enumerable: true })
    const size = (name: 'width' | 'height') =>
      function (this: HTMLImageElement): number {
        const { facts } = ask(this) ?? {}
        if (!facts?.isLoaded) return 0
        return facts[name] ?? (Number(this.getAttribute(name)) || usualSize[name])
      }
    define('complete', function () {
      const state = ask(this)
      return state === undefined || state.facts !== undefined
    })
    define('naturalWidth', size('width'))
    define('naturalHeight', size('height'))
    image.decode = async function () {
      const facts = await ask(this)?.check
      if (!facts?.isLoaded) throw new DOMException('The source image cannot be decoded.', 'EncodingError')
    }
  }
}

/** Size of an image that nobody knows: none that counts visits. */
const usualSize = { width: 640, height: 480 }

/** The URL that the browser would load; empty when there is none. */
function sourceOf(image: HTMLImageElement): string {
  const { currentSrc, src, srcset } = image
  const chosen = currentSrc || src || srcset.trim().split(/[\s,]/)[0]
  return chosen ? new URL(chosen, document.baseURI).href : ''
}
