import type { EngineConfig } from '../core/config.ts'
import type { Engine } from '../core/engine.ts'

/** Makes an engine; its parts load on first use. */
export function createEngine(_config: EngineConfig): Engine {
  throw new Error('not built yet')
}
