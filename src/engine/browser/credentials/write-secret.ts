/** Runs in Playwright's isolated world of a frame: writes a value of a credential into a field. */
import type { CredentialPart } from '../../../core/access/credentials.ts'

export interface SecretInput {
  readonly value: string
  readonly part: CredentialPart
  readonly origins: readonly string[]
}

/** Reason for a refusal; the values of `frame` and `form` are origins that the credential is not for. */
type Refusal = { readonly frame: string } | { readonly form: string } | { readonly fault: string }

/** Outcome of an attempt to write; `untouched`: the page has noticed nothing of it. */
export type SecretOutcome = { readonly written: string } | (Refusal & { readonly untouched?: true })

/**
 * Writes a value if the frame has one of the origins. Checks and writes without letting the page run in between: its
 * listeners run in `focus` before, and in the events after. The page cannot replace functions of this world, but names
 * of elements hide properties of documents and forms in every world: only getters of prototypes and globals that cannot
 * be replaced are read. Self-contained: only the text of the function reaches the page.
 */
export async function writeSecret([, node, input]: [unknown, Node, SecretInput]): Promise<SecretOutcome> {
  const { value, part, origins } = input
  const field = (node instanceof HTMLLabelElement && node.control ? node.control : node) as HTMLInputElement
  const read = <T>(prototype: object, name: string, of: object): T =>
    Object.getOwnPropertyDescriptor(prototype, name)!.get!.call(of) as T
  const types = part === 'password' ? ['password'] : ['text', 'email', 'tel', 'number', 'url', 'search', 'password']
  const isTarget = (action: string) => {
    const { protocol, origin } = new URL(action, location.href)
    // Code of the page itself, as in `javascript:void 0`.
    return protocol === 'javascript:' || origins.includes(origin)
  }
  /** Returns why the field must not get the value now. */
  const refusal = (): Refusal | undefined => {
    // An opaque origin, as in a sandboxed frame, is "null".
    if (!origins.includes(globalThis.origin)) return { frame: globalThis.origin }
    if (!(field instanceof HTMLInputElement)) return { fault: 'is no input' }
    if (field.ownerDocument !== window.document || !field.isConnected) return { fault: 'was removed from the page' }
    if (!types.includes(field.type))
      return {
        fault: part === 'password' ? `is of type ${field.type}, which shows a password` : `is of type ${field.type}`,
      }
    if (field.disabled || field.readOnly) return { fault: field.disabled ? 'is disabled' : 'is read-only' }
    const box = field.getBoundingClientRect()
    const isShown = field.checkVisibility({ visibilityProperty: true, opacityProperty: part !== 'totp' })
    const isOnPage = box.width > 1 && box.height > 1 && box.right + scrollX > 0 && box.bottom + scrollY > 0
    if (!isShown || !isOnPage) return { fault: 'is hidden from people' }
    const { form } = field
    if (!form) return undefined
    const root = field.getRootNode()
    const { querySelectorAll } = (root instanceof ShadowRoot ? DocumentFragment : Document).prototype
    const submitters = [...querySelectorAll.call(root, '[formaction], [formtarget]')] as HTMLButtonElement[]
    const own = submitters.filter((one) => one.form === form)
    const actionsOfOwn = own.filter((one) => one.hasAttribute('formaction')).map((one) => one.formAction)
    const actions = [read<string>(HTMLFormElement.prototype, 'action', form), ...actionsOfOwn]
    const foreign = actions.find((action) => !isTarget(action))
    if (foreign !== undefined) return { form: new URL(foreign).origin }
    // Another window would be opened before its navigation could be checked.
    const targetOf = (one: Element) => Element.prototype.getAttribute.call(one, 'target')
    const bases = [...Document.prototype.querySelectorAll.call(window.document, 'base[target]')]
    // Elements of SVG may have the same name.
    const base = bases.find((one) => one instanceof HTMLBaseElement)
    const target = targetOf(form) ?? (base && targetOf(base))
    const targets = [target, ...own.map((one) => one.getAttribute('formtarget'))]
    const isElsewhere = targets.some((target) => target && !/^_(?:self|parent|top)$/i.test(target))
    return isElsewhere ? { fault: 'belongs to a form that opens another window' } : undefined
  }
  const set = (text: string) =>
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(field, text)
  // Fields for codes are of the type `text`, which pictures and videos of the page would show.
  const cover = () => field.style.setProperty('-webkit-text-security', 'disc', 'important')
  const early = refusal()
  if (early) return { ...early, untouched: true }
  field.focus()
  const late = refusal()
  if (late) return late
  if (part === 'totp') cover()
  set(value)
  field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true, inputType: 'insertReplacementText' }))
  field.dispatchEvent(new Event('change', { bubbles: true }))
  const after = refusal()
  // Pages react in the same task or in the next.
  if (!after) await new Promise((resolve) => setTimeout(resolve))
  const changed = after ?? (field.isConnected ? refusal() : undefined)
  if (!changed) return { written: globalThis.origin }
  set('')
  return changed
}
