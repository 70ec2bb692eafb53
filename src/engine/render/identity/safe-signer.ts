/** Signs requests of a read, where nobody else can read the signature. */
import { isLocalUrl } from '../../../core/net/urls.ts'

/** Signs requests. */
export interface RequestSigner {
  /** Returns the headers of a signed request for a URL, with names in lower case. */
  headersFor(href: string): Readonly<Record<string, string>>
}

export class SafeSigner {
  readonly #signer: RequestSigner
  /** Origins that got requests without a signature. */
  readonly #unsigned = new Set<string>()

  constructor(signer: RequestSigner) {
    this.#signer = signer
  }

  /** Returns the headers for a URL of a read that began at `start`; none where the signature could be read by others. */
  headersFor(start: URL, url: URL): Readonly<Record<string, string>> {
    if (canSign(start, url)) return this.#signer.headersFor(url.href)
    this.#unsigned.add(url.origin)
    return {}
  }

  /** Names the origins that got requests without a signature; undefined if there are none. */
  get warning(): string | undefined {
    const [first] = this.#unsigned
    if (first === undefined) return undefined
    const others = this.#unsigned.size > 1 ? ` and ${this.#unsigned.size - 1} more` : ''
    return `requests to ${first}${others} were not signed: only https requests are`
  }
}

/**
 * Whether a request may be signed. Others who read a signature can send their own requests with it. Without TLS, only
 * requests to this machine and its network are signed, and none of a read that began with TLS.
 */
function canSign(start: URL, { protocol, hostname, origin }: URL): boolean {
  if (protocol === 'https:') return true
  return start.protocol !== 'https:' && (isLocalUrl(origin) || hostname.endsWith('.test'))
}
