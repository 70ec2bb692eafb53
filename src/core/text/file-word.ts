/** Words that name a file or an element, where a command takes both. */

/** `./page`, `/tmp/page`, `~/page`, `C:\page`; `//div` is a selector. */
const folderStart = /^(?:\.{1,2}[/\\]|\/(?!\/)|~\/|[a-z]:[/\\])/i

/** CSS such as `#buy`, `.price`, `[name]`, `:text`, `*` and `a > b`, `@e12`, `//div`, `text=Send`. */
const selectorLike = /^(?:[#.[:*@(]|\/\/|[\w-]+=)|>|\]$/

const fileExtension = /\.(?:png|jpe?g|webp|gif|bmp|tiff?|svg|avif|pdf|html?|json|txt|zip|har|webm)$/i

/** Returns whether a word names a file or an element; undefined for words such as `page`, which can be both. */
export function fileOrElement(word: string): 'file' | 'element' | undefined {
  if (folderStart.test(word)) return 'file'
  if (selectorLike.test(word)) return 'element'
  return fileExtension.test(word) ? 'file' : undefined
}
