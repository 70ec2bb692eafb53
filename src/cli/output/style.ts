/** Colours, used only on terminals that support them. */
import type { Io, Output } from '../io.ts'

export type Style = Readonly<Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>>

const same = (text: string) => text
/** Style without colours, for files and pipes. */
export const plainStyle: Style = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same }

/** Returns the style of stdout or stderr; chalk is loaded only if colours are used. */
export async function styleFor(io: Io, output: Output): Promise<Style> {
  if (!output.isTTY || io.env['NO_COLOR'] || io.env['TERM'] === 'dumb') return plainStyle
  const { Chalk } = await import('chalk')
  return new Chalk({ level: 1 })
}
