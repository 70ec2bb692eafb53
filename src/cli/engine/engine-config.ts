/** Converts settings of the terminal to the configuration of an engine. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { Io } from '../io.ts'
import { engineSettings, type Settings } from '../../core/config/settings.ts'

export function engineConfig(settings: Settings, io: Io): Omit<EngineConfig, 'home' | 'log'> {
  return {
    ...engineSettings(settings),
    display: hasDisplay(io),
    // The caller is the local user, whose files are protected by the system.
    writeAnywhere: true,
  }
}

/** Checks if this machine can show windows. */
export const hasDisplay = ({ env, host }: Io): boolean =>
  host.platform === 'darwin' || host.platform === 'win32' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])
