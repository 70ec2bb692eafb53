/** CDP types that a visit uses. */

/** Frame in `Page.frameNavigated`. */
export interface Frame {
  readonly parentId?: string
  readonly loaderId: string
  readonly unreachableUrl?: string
  readonly securityOrigin: string
}

/** Parameters of `Network.requestWillBeSent`. */
export type RequestWillBeSent = {
  readonly requestId: string
  readonly type: string
  readonly frameId: string
  readonly loaderId: string
  readonly request: { readonly url: string; readonly initialPriority?: string }
  readonly redirectResponse?: { readonly url: string; readonly status: number }
}

export interface ExceptionDetails {
  readonly text: string
  readonly exception?: { readonly description?: string; readonly value?: unknown }
}

export const exceptionText = ({ text, exception }: ExceptionDetails): string =>
  exception?.description?.split('\n')[0] ?? (exception?.value === undefined ? text : `threw ${JSON.stringify(exception.value)}`) // prettier-ignore
