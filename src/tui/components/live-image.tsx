/** A live image of a session's page. */
import { Box, type DOMElement, Text } from 'ink'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useAppContext } from '../hooks/app-context.ts'
import { useFrames } from '../hooks/use-frames.ts'
import { drawImage } from '../image/draw.ts'
import { fitInto } from '../image/half-blocks.ts'
import { areaOf, useMouse } from '../hooks/use-mouse.ts'

/** Milliseconds between images: half blocks are cheap, pixels are expensive. */
const intervalMs = { text: 120, kitty: 150, sixel: 300 } as const

let lastId = 0

interface LiveImageProps {
  readonly sessionId: string
  readonly width: number
  readonly height: number
  /** Whether something else is shown in this place. */
  readonly covered: boolean
  /** Called with the position of a click in the page, in CSS pixels of the viewport. */
  readonly onClick?: (x: number, y: number) => void
}

export function LiveImage({ sessionId, width, height, covered, onClick }: LiveImageProps) {
  const { screen, graphics } = useAppContext()
  const node = useRef<DOMElement>(null)
  const key = useRef(Symbol('image'))
  const [id] = useState(() => ++lastId)
  const latest = useRef<Uint8Array | undefined>(undefined)
  const page = useRef({ width: 0, height: 0 })
  const [hasImage, setHasImage] = useState(false)
  const draw = async () => {
    const bytes = latest.current
    const frame = node.current && areaOf(node.current)
    if (!bytes || !frame || covered) return
    const overlay = await drawImage(bytes, frame, graphics, id)
    // Meanwhile a newer frame may have arrived, or the component may be gone.
    if (overlay && latest.current === bytes && node.current) screen.place(key.current, overlay)
  }
  useFrames({
    stream: 'sessionEvents',
    input: { session_id: sessionId, types: ['frame'] },
    batchMs: intervalMs[graphics.kind],
    active: !covered,
    onFrames: (frames) => {
      const last = frames.findLast((frame) => frame.type === 'frame')
      if (!last) return
      page.current = { width: last.data.width, height: last.data.height }
      latest.current = Buffer.from(last.data.data, 'base64')
      setHasImage(true)
      void draw()
    },
  })
  useMouse(
    node,
    ({ x, y, kind }) => {
      const area = node.current && areaOf(node.current)
      if (kind !== 'press' || !area || page.current.width === 0) return
      const { columns, rows } = fitInto(page.current, area)
      const left = Math.floor((area.columns - columns) / 2)
      if (x < left || x >= left + columns || y >= rows) return
      // The middle of the cell.
      const scale = page.current.width / columns
      onClick?.(Math.round((x - left + 0.5) * scale), Math.round((y + 0.5) * (page.current.height / rows)))
    },
    onClick !== undefined && !covered,
  )
  useEffect(() => {
    if (covered) screen.place(key.current, null)
    else void draw()
  }, [covered, width, height, graphics, screen])
  useLayoutEffect(() => {
    const own = key.current
    return () => {
      latest.current = undefined
      screen.place(own, null)
    }
  }, [screen])
  return (
    <Box ref={node} width={width} height={height} overflow="hidden">
      {!hasImage && !covered && <Text dimColor>waiting for a frame …</Text>}
    </Box>
  )
}
