/** Finds out whether an image would load, and how large it is, without showing it. */

export interface ImageFacts {
  readonly isLoaded: boolean
  /** Absent where nobody knows. */
  readonly width?: number
  readonly height?: number
}

/** Images requested for one page; further ones are taken for loaded. */
const mostRequests = 16
/** Larger files are taken for loaded when they begin to arrive. */
const mostBytes = 256 * 1024

const failed: ImageFacts = { isLoaded: false }
const assumed: ImageFacts = { isLoaded: true }

/** Returns a check of image URLs that uses the browser's own functions, whatever the page makes of them. */
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
    if (response.type === 'opaque' || Number(response.headers.get('content-length')) > mostBytes) {
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
    if (requests++ >= mostRequests) return assumed
    // What the page itself needs goes first.
    if (document.readyState !== 'complete') await loaded
    const violations = new Set<string>()
    const violated = ({ blockedURI }: SecurityPolicyViolationEvent) => violations.add(blockedURI)
    document.addEventListener('securitypolicyviolation', violated)
    try {
      return await read(location.protocol === 'https:' ? url.replace(/^http:/, 'https:') : url)
    } catch {
      await new Promise((resolve) => Reflect.apply(setTimeout, globalThis, [resolve, 0]))
      // The policy that forbids this request need not forbid the image.
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
