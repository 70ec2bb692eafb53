/** Checks whether an image would load, and its size, without showing it. */

export interface ImageFacts {
  readonly isLoaded: boolean
  /** Size in pixels, if known. */
  readonly width?: number
  readonly height?: number
}

/** Maximum number of requested images per page; further ones count as loaded. */
const maxRequests = 16
/** Size in bytes above which files count as loaded when they start to arrive. */
const maxBytes = 256 * 1024

const failed: ImageFacts = { isLoaded: false }
const assumed: ImageFacts = { isLoaded: true }

/** Returns a check of image URLs that uses the browser's own functions, even if the page replaces them. */
export function imageCheck(): (url: string) => Promise<ImageFacts> {
  const { addEventListener, createImageBitmap, fetch, setTimeout } = globalThis
  const { blob: readBlob } = Response.prototype
  let requests = 0
  const loaded = new Promise((resolve) =>
    Reflect.apply(addEventListener, globalThis, ['load', resolve, { once: true }]),
  )
  const read = async (url: string): Promise<ImageFacts> => {
    const options = { mode: 'no-cors', credentials: 'include', cache: 'force-cache', priority: 'low' } as const
    const response: Response = await Reflect.apply(fetch, globalThis, [url, options])
    if (response.type === 'opaque' || Number(response.headers.get('content-length')) > maxBytes) {
      void response.body?.cancel()
      return assumed
    }
    const blob: Blob = await Reflect.apply(readBlob, response, [])
    if (blob.type.includes('svg')) return sizeOfVector(await blob.text())
    try {
      const { width, height } = await (Reflect.apply(createImageBitmap, globalThis, [blob]) as Promise<ImageBitmap>)
      return { isLoaded: true, width, height }
    } catch {
      // Not an image.
      return failed
    }
  }
  return async (url) => {
    if (requests++ >= maxRequests) return assumed
    // Requests of the page itself come first.
    if (document.readyState !== 'complete') await loaded
    const violations = new Set<string>()
    const violated = ({ blockedURI }: SecurityPolicyViolationEvent) => violations.add(blockedURI)
    document.addEventListener('securitypolicyviolation', violated)
    try {
      return await read(location.protocol === 'https:' ? url.replace(/^http:/, 'https:') : url)
    } catch {
      await new Promise((resolve) => Reflect.apply(setTimeout, globalThis, [resolve, 0]))
      // A security policy that blocks this request may allow the image.
      return violations.size > 0 ? assumed : failed
    } finally {
      document.removeEventListener('securitypolicyviolation', violated)
    }
  }
}

function sizeOfVector(text: string): ImageFacts {
  const { documentElement: root } = new DOMParser().parseFromString(text, 'image/svg+xml')
  if (root.localName !== 'svg') return failed
  const [, , boxWidth, boxHeight] = (root.getAttribute('viewBox') ?? '').split(/[\s,]+/).map(Number)
  const width = Number.parseFloat(root.getAttribute('width') ?? '') || boxWidth || 300
  const height = Number.parseFloat(root.getAttribute('height') ?? '') || boxHeight || 150
  return { isLoaded: true, width, height }
}
