/** Page scripts (`x.page.ts?inline`) as functions that Playwright can evaluate. */

/** A function of which Playwright sends the text to a page; calling it here only gives that text. */
export const textFunction = <Callable>(text: string): Callable =>
  Object.assign(() => text, { toString: () => text }) as Callable

/** A function that runs `name` of a bundled page script with the arguments of the evaluation. */
export const pageFunction = <Input, Output>(script: string, name: string): ((input: Input) => Output) =>
  // The first semicolon keeps the script's "use strict" from being a directive of the function.
  textFunction(`(first, second) => { ;${script}; return __bax_module.${name}(first, second) }`)

/** The same for a function of a list of elements, to be evaluated on one of them. */
export const listFunction = <Output, Options>(script: string, name: string): ListFunction<Output, Options> => ({
  all: textFunction(`(first, second) => { ;${script}; return __bax_module.${name}(first, second) }`),
  one: textFunction(`(first, second) => { ;${script}; return __bax_module.${name}([first], second) }`),
})

export interface ListFunction<Output, Options> {
  readonly all: (elements: Element[], options: Options) => Output
  readonly one: (element: Element, options: Options) => Output
}
