/** A live image of a session's page. */
import { Box, type DOMElement, Text } from 'ink'
import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Event } from '../../core/events/event-line.ts'
import { useAppContext } from '../hooks/app-context.ts'
import { useFrames } from '../hooks/use-frames.ts'
import { drawImage, type CellArea } from '../image/draw.ts'

/** Milliseconds between images: half blocks are cheap, pixels are expensive. */
const intervalMs = { text: 120, kitty: 150, sixel: 300 } as const

let lastId = 0

interface LiveImageProps {
  readonly sessionId: string
  readonly width: number
  readonly height: number
  /** Whether something else is shown in this place. */
  readonly covered: boolean
}

export function LiveImage({ sessionId, width, height, covered }: LiveImageProps) {
  const { screen, graphics } = useAppContext()
  const node = useRef<DOMElement>(null)
  const key = useRef(Symbol('image'))
  const [id] = useState(() => ++lastId)
  const latest = useRef<Uint8Array | undefined>(undefined)
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
      const last = frames.findLast(({ type }) => type === 'frame') as Event | undefined
      if (!last) return
      latest.current = Buffer.from(last.data['data'] as string, 'base64')
      setHasImage(true)
      void draw()
    },
  })
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

/** Returns the area of an element in the terminal; null when it has none. */
function areaOf(element: DOMElement): CellArea | null {
  const own = element.yogaNode
  if (!own) return null
  const frame = { x: 0, y: 0, columns: own.getComputedWidth(), rows: own.getComputedHeight() }
  for (let above: DOMElement | undefined = element; above?.yogaNode; above = above.parentNode) {
    frame.x += above.yogaNode.getComputedLeft()
    frame.y += above.yogaNode.getComputedTop()
  }
  return frame.columns > 0 && frame.rows > 0 ? frame : null
}
