/** Runs in a page: finds the log-in form of a frame. */

export interface LoginFields {
  readonly username: HTMLInputElement | null
  readonly password: HTMLInputElement | null
  readonly code: HTMLInputElement | null
  readonly submit: HTMLElement | null
  /** Button that logs in with a passkey. */
  readonly passkey: HTMLElement | null
  /** Message that the page shows about a failure; empty without one. */
  readonly notice: string
}

/** Finds the visible fields of a log-in; all are null without one. Self-contained: only its text reaches the page. */
export function findLogin(): LoginFields {
  const every = (root: Document | ShadowRoot): Element[] =>
    [...root.querySelectorAll('*')].flatMap((one) => [one, ...(one.shadowRoot ? every(one.shadowRoot) : [])])
  const isShown = (one: Element) => {
    const { width, height } = one.getBoundingClientRect()
    return width > 1 && height > 1 && one.checkVisibility({ visibilityProperty: true, opacityProperty: true })
  }
  const wordsOf = (one: Element) => `${one.textContent} ${one.ariaLabel ?? ''} ${(one as HTMLInputElement).value ?? ''}`
  const isForPasskey = (one: Element) =>
    /pass-?key|security key|sicherheitsschlüssel|passwordless|webauthn|fido/i.test(wordsOf(one)) &&
    !/\b(?:create|add|register|set ?up|enrol|manage|delete|remove|learn|what|why|help)/i.test(wordsOf(one))
  const all = every(document)
  const inputs = all.filter(
    (one): one is HTMLInputElement => one instanceof HTMLInputElement && isShown(one) && !one.disabled && !one.readOnly,
  )
  const hintOf = ({ autocomplete, name, id, placeholder, ariaLabel, labels }: HTMLInputElement) => {
    const texts = [...(labels ?? [])].map(({ textContent }) => textContent)
    return [autocomplete, name, id, placeholder, ariaLabel, ...texts].join(' ').toLowerCase()
  }
  const isText = ({ type }: HTMLInputElement) => ['text', 'email', 'tel', 'number'].includes(type)
  const isCode = (one: HTMLInputElement) =>
    /one-time|\bt?otp\b|[_-]t?otp|\b(?:2fa|mfa|tfa)|two-?factor|(?:verification|authenticat\w*|security|login) ?code|6-digit/.test(
      hintOf(one),
    )
  const code = inputs.find((one) => (isText(one) || one.type === 'password') && isCode(one)) ?? null
  const passwords = inputs.filter(
    (one) => one.type === 'password' && one !== code && one.autocomplete !== 'new-password',
  )
  // Several in one form are for a registration or a new password.
  const password = passwords.find((one) => passwords.filter(({ form }) => form === one.form).length === 1) ?? null
  const texts = inputs.filter((one) => isText(one) && one !== code)
  const isName = (one: HTMLInputElement) => /user|login|identifier|account|e-?mail/.test(hintOf(one))
  const before = password
    ? texts.filter((one) => one.form === password.form && inputs.indexOf(one) < inputs.indexOf(password))
    : []
  const buttonsOf = (form: HTMLFormElement | null) =>
    all.filter(
      (one): one is HTMLButtonElement =>
        isShown(one) &&
        one.matches('button, input[type=submit], input[type=image]') &&
        (one as HTMLButtonElement).form === form,
    )
  const continues = (one: HTMLInputElement) =>
    buttonsOf(one.form).some((button) => /next|continue|log ?in|sign ?in|weiter|anmelden/i.test(wordsOf(button)))
  // A name next to a new password is for a registration.
  const isAlone = (one: HTMLInputElement) =>
    isName(one) &&
    !inputs.some(({ type, form }) => type === 'password' && form === one.form) &&
    (one.autocomplete === 'username' || continues(one))
  const alone = code ? undefined : texts.find(isAlone)
  const username = (password ? (before.findLast(isName) ?? before.at(-1)) : alone) ?? null
  const form = (password ?? code ?? username)?.form ?? null
  const submits = form ? buttonsOf(form).filter(({ type }) => type !== 'button' && type !== 'reset') : []
  const alert = all.find(
    (one) => one.matches('[role=alert], [aria-live=assertive], .error, .alert-danger') && isShown(one),
  )
  const notice = (alert?.textContent ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 200)
  const buttons = all.filter((one) => one.matches('button, a, [type=button], [type=submit], [role=button]'))
  const passkey = (buttons.find((one) => isShown(one) && isForPasskey(one)) ?? null) as HTMLElement | null
  return { username, password, code, submit: submits[0] ?? null, passkey, notice }
}
