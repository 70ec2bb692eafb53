/** Languages and time zones that browsers accept. */

/** Returns whether a text is a BCP 47 language tag. */
export function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch {
    return false
  }
}

/** Returns whether a text is an IANA time zone. Node accepts offsets such as +02:00 too; Chromium does not. */
export function isTimeZone(text: string): boolean {
  if (/^[+-]/.test(text)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
