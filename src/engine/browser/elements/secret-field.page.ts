/** Runs in the page: recognizes fields whose text must not be stored. */
import { isInput } from './node-kinds.page.ts'

/** Returns whether a field is for a password, the data of a card or a one-time code. */
export const isSecretField = (element: Element): boolean =>
  isInput(element) &&
  // Component libraries turn autofill off with "new-password" in the search fields of their selects.
  (element.type === 'password' ||
    (/password|cc-(?:number|csc)|one-time-code/.test(element.autocomplete) &&
      !element.matches('[type=search], [role=combobox]')))
