/** Page scripts (`x.page.ts?inline`) as functions that Playwright can evaluate. */

/** A function of which only the text is used: it runs in a page, and calling it here is an error. */
export function textFunction<Function>(text: string): Function {
  const call = () => {
    throw new Error('this function runs in a page only')
  }
  call.toString = () => text
  return call as Function
}

/** A function that runs `name` of a bundled page script with the arguments of the evaluation. */
export const pageFunction = <Input, Output>(script: string, name: string): ((input: Input) => Output) =>
  textFunction(`(...given) => { ${script}; return __bax_module.${name}(...given) }`)
