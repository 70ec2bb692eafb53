/** Runs in the page: recognizes fields whose text must not be stored. */
import { isInput } from './node-kinds.page.ts'

/** Returns whether a field is for a password, the data of a card or a one-time code. */
export const isSecretField = (element: Element): boolean =>
  isInput(element) &&
  // Component libraries turn autofill off with "new-password" in the search fields of their selects.
  (element.type === 'password' ||
    (/password|cc-(?:number|csc)|one-time-code/.test(element.autocomplete) &&
      !element.matches('[type=search], [role=combobox]')))

/** Names of fields that show a password, or are for one without saying so to the browser. */
const secretName = /passw|pwd|passcode|passphrase|secret|(?:^|[^a-z])(?:otp|pin|cvc|cvv)(?:[^a-z]|$)/i
const named = ['id', 'name', 'aria-label', 'placeholder']
/** Fields whose values nobody types. */
const chosen = ['hidden', 'checkbox', 'radio', 'submit', 'button', 'reset', 'image', 'file']
const typed = `input:not(${chosen.map((type) => `[type=${type}]`).join(', ')}), textarea`

/** Returns whether the text of a field must not be stored, as its kind or its name says. */
export const holdsSecret = (element: Element): boolean =>
  isSecretField(element) ||
  (element.matches(typed) && named.some((name) => secretName.test(element.getAttribute(name) ?? '')))
