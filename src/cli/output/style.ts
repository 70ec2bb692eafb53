/** Colour, only where a person looks at a terminal that shows it. */
import type { Io, Output } from '../io.ts'

export interface Style {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly cyan: (text: string) => string
}

const same = (text: string) => text
/** No colour at all: files and pipes. */
export const plainStyle: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same }

/** The style of one of the two outputs; chalk is loaded only when there is something to colour. */
export async function styleFor(io: Io, output: Output): Promise<Style> {
  if (!output.isTTY || io.env['NO_COLOR'] || io.env['TERM'] === 'dumb') return plainStyle
  const { Chalk } = await import('chalk')
  return new Chalk({ level: 1 })
}
