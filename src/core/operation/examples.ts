/** Examples of commands and operations, for help pages and documents. */

/** One example, or several that show something different. */
export type Examples = string | readonly string[]

/** Returns the examples as a list. */
export const examplesOf = (examples: Examples = []): readonly string[] =>
  typeof examples === 'string' ? [examples] : examples
