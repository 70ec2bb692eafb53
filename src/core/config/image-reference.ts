/** References to container images, in the grammar of the distribution project. Without zod: settings use them too. */

const component = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const hostPart = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const host = `(?:${hostPart}(?:\\.${hostPart})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const name = `(?:${host}/)?${component}(?:/${component})*`
const tag = '\\w[\\w.-]{0,127}'
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}'

/** `[host[:port]/]path[:tag][@digest]`; the groups are name, tag and digest. */
export const imagePattern = new RegExp(`^(${name})(?::(${tag}))?(?:@(${digest}))?$`)

/** Maximum length of the name (host and path). */
const imageNameChars = 255

/** Maximum length of a whole reference: name, tag and a sha512 digest. */
export const imageChars = 520

/** Returns whether a text is a reference that a registry would accept. */
export function isImageReference(text: string): boolean {
  if (text.length > imageChars) return false
  const [, found] = imagePattern.exec(text) ?? []
  return found !== undefined && found.length <= imageNameChars
}
