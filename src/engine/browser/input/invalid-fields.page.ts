/** Messages of the browser about invalid fields, which keep a form from being submitted. */

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** An `invalid` event. */
export interface Rejection {
  readonly event: Event
  readonly field: Field
  readonly wasFocused: boolean
}

/** Returns what is known at the time of the event; null for elements that are no fields. */
export function rejectionOf(event: Event): Rejection | null {
  const field = event.composedPath()[0]
  return isField(field) ? { event, field, wasFocused: field.matches(':focus') } : null
}

/** Returns the message about a field, once the event is over; null when a script has only asked for it. */
export function shownMessage({ event, field, wasFocused }: Rejection): string | null {
  const isShown = field.matches(':user-invalid') || (!wasFocused && field.matches(':focus'))
  return isShown && !event.defaultPrevented ? `${nameOf(field)}: ${field.validationMessage}`.slice(0, maxChars) : null
}

/** Maximum length of a message, in characters. */
const maxChars = 500

const isField = (target: unknown): target is Field =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement

/** Returns what people call a field. */
const nameOf = (field: Field): string =>
  [field.labels?.[0]?.innerText, field.ariaLabel, field.getAttribute('placeholder'), field.name, field.localName]
    .map((name) => name?.replace(/\s+/g, ' ').trim())
    .find(Boolean)!
