/** Runs in the page: finds the fields whose text must not be stored. */
import { holdsSecret } from '../elements/secret-field.page.ts'

type Field = HTMLInputElement | HTMLTextAreaElement

export interface DocumentSecrets {
  readonly values: readonly string[]
  readonly hasSecret: boolean
  /** Whether the next keys go into such a field. */
  readonly isFocused: boolean
}

export function secretsIn(): DocumentSecrets {
  const fields = fieldsIn(document)
  const active = focused(document)
  return {
    values: fields.map(({ value }) => value).filter((value) => value !== ''),
    hasSecret: fields.length > 0,
    isFocused: active !== null && holdsSecret(active),
  }
}

/** Returns whether an element is such a field, or contains one. */
export const isForSecret = (element: Element): boolean =>
  holdsSecret(element) || [element, element.shadowRoot].some((root) => root !== null && fieldsIn(root).length > 0)

function fieldsIn(root: ParentNode): Field[] {
  const found: Field[] = []
  for (const element of root.querySelectorAll('*')) {
    if (holdsSecret(element)) found.push(element as Field)
    if (element.shadowRoot) found.push(...fieldsIn(element.shadowRoot))
  }
  return found
}

function focused(root: Document | ShadowRoot): Element | null {
  const active = root.activeElement
  return (active?.shadowRoot && focused(active.shadowRoot)) || active
}
