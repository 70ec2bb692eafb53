/** Whether the texts of a widget show the name of an option. */

const plain = (text: string) =>
  text
    .replaceAll(/[\u200B\u00AD]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** Whether a widget shows a name now that it did not show before a click; `before` and `now` are of the same elements. */
export const showsName = (name: string, before: readonly string[], now: readonly string[]): boolean =>
  now.some((text) => plain(text) === name || (plain(text).includes(name) && !before.includes(text)))

/** Whether texts contain a name that is not a part of a longer word. */
export function containsName(name: string, texts: readonly string[]): boolean {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const whole = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'u')
  return texts.some((text) => whole.test(plain(text)))
}
