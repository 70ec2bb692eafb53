/** Page scripts (`x.page.ts?inline`) as functions that Playwright can evaluate. */

/** Returns a function whose text Playwright sends to a page; calling it here only returns that text. */
export const textFunction = <Callable>(text: string): Callable =>
  Object.assign(() => text, { toString: () => text }) as Callable

/** Returns a function that calls `name` of a bundled page script with the arguments of the evaluation. */
export const pageFunction = <Callable>(script: string, name: string): Callable =>
  // The first semicolon prevents the script's "use strict" from becoming a directive of the function.
  textFunction(`(first, second) => { ;${script}; return __bax_module.${name}(first, second) }`)

/** Returns variants of such a function for a list of elements and for a single one. */
export const listFunction = <Output, Options>(script: string, name: string): ListFunction<Output, Options> => ({
  all: textFunction(`(first, second) => { ;${script}; return __bax_module.${name}(first, second) }`),
  one: textFunction(`(first, second) => { ;${script}; return __bax_module.${name}([first], second) }`),
})

export interface ListFunction<Output, Options> {
  readonly all: (elements: Element[], options: Options) => Output
  readonly one: (element: Element, options: Options) => Output
}
