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

/** Properties of a place that pages can read: languages, the preferred one first, and the time zone if there is only one. */
export interface Place {
  readonly languages: readonly string[]
  readonly timezone?: string
}

/** Returns the time zones of a country by its ISO 3166-1 code; none if it is unknown. */
export function timeZonesOf(country: string): readonly string[] {
  try {
    const locale = new Intl.Locale(`und-${country}`) as Intl.Locale & {
      readonly timeZones?: string[]
      getTimeZones?(): string[]
    }
    return locale.getTimeZones?.() ?? locale.timeZones ?? []
  } catch {
    return []
  }
}

/** Returns the languages and the time zone of a place; languages come before those of the country. */
export function placeOf({
  country,
  languages,
}: {
  country?: string | undefined
  languages?: readonly string[] | undefined
}): Place {
  const region = country?.toUpperCase()
  const own = languages ?? (region === undefined ? [] : [new Intl.Locale(`und-${region}`).maximize().language])
  // `de` is the German of the country.
  const regional = own.map((tag) => (region === undefined || tag.includes('-') ? tag : `${tag}-${region}`))
  const zones = region === undefined ? [] : timeZonesOf(region)
  const isOne = new Set(zones.map(offsetsOf)).size === 1
  return { languages: withBases(regional), ...(isOne && { timezone: zones[0]! }) }
}

/** Adds to each tag its language without a region, as browsers do. */
export const withBases = (tags: readonly string[]): readonly string[] => [
  ...new Set(tags.flatMap((tag) => [tag, tag.replace(/-.*/, '')])),
]

/** Returns the offsets of a time zone in winter and summer, to compare zones. */
function offsetsOf(timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  return ['2026-01-01', '2026-07-01'].map((day) => format.format(new Date(day))).join()
}
