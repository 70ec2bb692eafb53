import type { NewEvent } from '../events/buffer.ts'

/** A record before its target is known and its secrets are out. */
export type Draft = Pick<NewEvent, 'kind' | 'type' | 'ts' | 'data' | 'frame_id'>
