/** Text for a terminal: pages, files and servers must not control it, for example set its clipboard. */
import type { Output } from '../io.ts'

/** Control sequences that bax writes itself: colours, links to files, and the erasing of a line of progress. */
const own = String.raw`\u001B\[(?:[0-4]|22|3[0-79])m|\u001B\]8;;(?:file:[!-~]{0,4096})?\u001B\\|\r\u001B\[2K|\r\n`
const controls = new RegExp(String.raw`(${own})|[\u0000-\u0008\u000B-\u001F\u007F-\u009F]`, 'g')

/** Replaces control characters, except for tabs and line breaks, by visible symbols. */
const visible = (text: string): string =>
  text.replaceAll(controls, (character, kept?: string) => kept ?? symbolOf(character))

/** Returns the symbol that Unicode has for a control character, such as `␛`. */
function symbolOf(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\uFFFD'
}

/** Returns an output that shows control characters instead of sending them to a terminal; other outputs get everything. */
export function withVisibleControls<Out extends Output>(output: Out): Out {
  if (!output.isTTY) return output
  const write: Output['write'] = (chunk, done) => output.write(typeof chunk === 'string' ? visible(chunk) : chunk, done)
  return Object.create(output, { write: { value: write } })
}
