/**
 * Runs in every document of a session: replaces the clipboard of the browser, which all sessions share, by the one of
 * the session. Copying, cutting and pasting repeat their event with data of their own, and never use the browser's.
 */

/** Calls the engine; missing where a page must not find it. */
type CallEngine = (action: 'read' | 'write' | 'paste' | 'pasted', text?: string) => Promise<string>

export function installClipboard(binding: string | null): void {
  const scope = globalThis as unknown as Record<string, CallEngine | undefined>
  const call = binding === null ? undefined : scope[binding]
  if (binding !== null) delete scope[binding]
  let local = ''
  const write = async (text: string) => void (call ? await call('write', text) : (local = text))
  const read = async (action: 'read' | 'paste') => (call ? call(action) : local)

  const repeat = (event: ClipboardEvent, clipboardData: DataTransfer): boolean => {
    const target = event.composedPath()[0] ?? document
    const options = { clipboardData, bubbles: true, cancelable: true, composed: true }
    return target.dispatchEvent(new ClipboardEvent(event.type, options))
  }
  const intercept = (event: Event): event is ClipboardEvent => {
    if (!event.isTrusted) return false
    event.stopImmediatePropagation()
    event.preventDefault()
    return true
  }
  const onCopy = (event: Event): void => {
    if (!intercept(event)) return
    const data = new DataTransfer()
    if (!repeat(event, data)) {
      if (data.types.length > 0) void write(data.getData('text/plain'))
      return
    }
    const text = selectedText(event.composedPath()[0])
    if (text === '') return
    void write(text)
    if (event.type === 'cut') document.execCommand('delete')
  }
  const onPaste = (event: Event): void => {
    if (!intercept(event)) return
    void read('paste').then((text) => {
      const data = new DataTransfer()
      if (text !== '') data.setData('text/plain', text)
      if (repeat(event, data) && text !== '') document.execCommand('insertText', false, text)
      return call?.('pasted')
    })
  }
  addEventListener('copy', onCopy, true)
  addEventListener('cut', onCopy, true)
  addEventListener('paste', onPaste, true)
  replaceAsync({
    writeText: (text) => write(String(text)),
    readText: () => allowed().then(() => read('read')),
    write: async (items) => {
      for (const item of items as Iterable<ClipboardItem>) {
        if (!item.types.includes('text/plain')) throw denied('Only text can be written to this clipboard.')
        await write(await (await item.getType('text/plain')).text())
      }
    },
    read: async () => {
      await allowed()
      const type = 'text/plain'
      return [new ClipboardItem({ [type]: new Blob([await read('read')], { type }) })]
    },
  })
}

/** Returns the selected text of a field or of the document; passwords cannot be copied. */
function selectedText(target: EventTarget | undefined): string {
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement) {
    if (target.type === 'password') return ''
    const { selectionStart: start, selectionEnd: end } = target
    if (start !== null && end !== null) return target.value.slice(start, end)
  }
  return String(getSelection() ?? '')
}

/** Rejects unless the user has just interacted with the page. */
async function allowed(): Promise<void> {
  if (!navigator.userActivation.isActive) throw denied('Read permission denied.')
}

const denied = (message: string) => new DOMException(message, 'NotAllowedError')

/** Replaces methods of `navigator.clipboard`, which exists in secure contexts only. */
function replaceAsync(methods: Record<string, (argument: unknown) => Promise<unknown>>): void {
  const prototype = (globalThis as unknown as { Clipboard?: { prototype: Record<string, unknown> } }).Clipboard
    ?.prototype
  if (!prototype) return
  for (const [name, method] of Object.entries(methods)) {
    const native = prototype[name] as (...all: unknown[]) => unknown
    // A proxy keeps the source text and the properties of the native function.
    prototype[name] = new Proxy(native, { apply: (_native, _self, [argument]) => method(argument) })
  }
}
