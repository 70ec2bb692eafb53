/** Actions on elements without Playwright. */

/** The same action without Playwright, which is tried first: faster, and equal where it is possible. */
export interface Directly<T> {
  readonly direct?: ((element: DirectElement) => Promise<T>) | undefined
}

/**
 * An element that an action works on without Playwright. Methods reject when the case is unclear, for example for a
 * moving or covered element; then nothing has been done, and the action is left to Playwright.
 */
export interface DirectElement {
  /**
   * Runs a self-contained function on the element, in an isolated world. The first call finds and checks the element: its
   * function may be run again by the fallback, so that it must not change the page, except for the focus.
   */
  evaluate<Output, Input>(work: (element: Element, input: Input) => Output, input: Input): Promise<Output>
  /** Runs several such functions in one call, up to the first that returns false or null; returns their results. */
  evaluateEach(works: readonly ((element: Element) => unknown)[]): Promise<unknown[]>
  click(how?: { readonly button?: 'left' | 'middle' | 'right'; readonly clickCount?: number }): Promise<void>
  hover(): Promise<void>
  setChecked(checked: boolean): Promise<void>
  /** Presses and releases keys, one after the other. */
  keys(names: readonly string[]): Promise<void>
  /** Sends keys to the element, which has the focus, and waits for the navigations that they cause. */
  press(send: () => Promise<void>): Promise<void>
  /** Leaves the action to Playwright. */
  unclear(reason: string): never
}

/** Element of a press, which moves when it loses the release. */
export interface Pressed {
  readonly selector: string
  /** Returns what is left of the timeout, in milliseconds. */
  readonly left: () => number
}
