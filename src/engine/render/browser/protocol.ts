/** Messages of the browser, as far as a visit reads them. */

/** A frame as `Page.frameNavigated` tells of it. */
export interface Frame {
  readonly parentId?: string
  readonly loaderId: string
  readonly unreachableUrl?: string
  readonly securityOrigin: string
}

/** Parameters of `Network.requestWillBeSent`. */
export interface Requested {
  readonly requestId: string
  readonly type: string
  readonly frameId: string
  readonly loaderId: string
  readonly request: { readonly url: string; readonly initialPriority?: string }
  readonly redirectResponse?: { readonly url: string; readonly status: number }
}

/** What an evaluation threw. */
export interface Thrown {
  readonly text: string
  readonly exception?: { readonly description?: string; readonly value?: unknown }
}

/** The first line of what was thrown. */
export const exceptionText = ({ text, exception }: Thrown): string =>
  exception?.description?.split('\n')[0] ?? (exception?.value === undefined ? text : `threw ${JSON.stringify(exception.value)}`) // prettier-ignore
