/** Runs in a private page: encodes the frames of a screencast with WebCodecs. */
interface Encoding {
  readonly encoder: VideoEncoder
  readonly canvas: OffscreenCanvas
  readonly drawing: OffscreenCanvasRenderingContext2D
  chunks: EncodedFrame[]
  error: string | undefined
}

/** An encoded frame; its time is in milliseconds. */
export interface EncodedFrame {
  readonly at: number
  readonly key: boolean
  /** Base64. */
  readonly data: string
}

const registry = globalThis as { baxEncoding?: Encoding }

export function startEncoding(options: { width: number; height: number; bitrate: number }): void {
  const { width, height, bitrate } = options
  const canvas = new OffscreenCanvas(width, height)
  const encoder = new VideoEncoder({
    output: (chunk) => {
      const bytes = new Uint8Array(chunk.byteLength)
      chunk.copyTo(bytes)
      encoding.chunks.push({ at: Math.round(chunk.timestamp / 1000), key: chunk.type === 'key', data: base64(bytes) })
    },
    error: (error) => (encoding.error = error.message),
  })
  const encoding: Encoding = { encoder, canvas, drawing: canvas.getContext('2d')!, chunks: [], error: undefined }
  encoder.configure({ codec: 'vp8', width, height, bitrate, latencyMode: 'realtime' })
  registry.baxEncoding = encoding
}

/** Encodes a frame, or without an image the last one again; returns the frames that are ready. */
export async function encodeFrame(frame: { at: number; key: boolean; image?: string }): Promise<EncodedFrame[]> {
  const encoding = registry.baxEncoding!
  const { canvas, drawing, encoder } = encoding
  if (frame.image !== undefined) {
    const response = await fetch(`data:image/jpeg;base64,${frame.image}`)
    const image = await createImageBitmap(await response.blob())
    // A tab of another size is fitted into the frame.
    const scale = Math.min(canvas.width / image.width, canvas.height / image.height)
    const [width, height] = [image.width * scale, image.height * scale]
    drawing.fillStyle = '#000'
    drawing.fillRect(0, 0, canvas.width, canvas.height)
    drawing.drawImage(image, (canvas.width - width) / 2, (canvas.height - height) / 2, width, height)
    image.close()
  }
  const picture = new VideoFrame(canvas, { timestamp: frame.at * 1000 })
  encoder.encode(picture, { keyFrame: frame.key })
  picture.close()
  return take(encoding)
}

export async function finishEncoding(): Promise<EncodedFrame[]> {
  const encoding = registry.baxEncoding!
  await encoding.encoder.flush()
  return take(encoding)
}

function take(encoding: Encoding): EncodedFrame[] {
  if (encoding.error !== undefined) throw new Error(encoding.error)
  const { chunks } = encoding
  encoding.chunks = []
  return chunks
}

function base64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(binary)
}
