/** Colours and links, used only on terminals that support them. */
import { pathToFileURL } from 'node:url'
import type { Io, Output } from '../io.ts'

type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

export interface Style extends Readonly<Record<Colour, (text: string) => string>> {
  /** Makes a text a link to a file; the path must be absolute. */
  link(text: string, path: string): string
}

const same = (text: string) => text
/** Style without colours and links, for files and pipes. */
export const plainStyle: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same, link: same }

/** Formats a link as OSC 8 does; terminals without links show only the text. */
const link = (text: string, path: string): string =>
  `\u001B]8;;${pathToFileURL(path).href}\u001B\\${text}\u001B]8;;\u001B\\`

/** Returns the style of stdout or stderr; chalk is loaded only if colours are used. */
export async function styleFor(io: Io, output: Output): Promise<Style> {
  if (!output.isTTY || io.env['NO_COLOR'] || io.env['TERM'] === 'dumb') return plainStyle
  const { Chalk } = await import('chalk')
  return Object.assign(new Chalk({ level: 1 }), { link })
}
