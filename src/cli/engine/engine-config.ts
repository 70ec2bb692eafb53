/** Converts settings of the terminal to the configuration of an engine. */
import type { EngineConfig } from '../../core/config/config.ts'
import type { Io } from '../io.ts'
import type { Settings } from '../settings.ts'

export function engineConfig(settings: Settings, io: Io): Omit<EngineConfig, 'home' | 'log'> {
  const {
    stateDir,
    cacheDir,
    browser,
    pool,
    crawlPages,
    browserMemoryBytes,
    model,
    builtinExtractor,
    search,
    shell,
    profileKey,
    webhookSecret,
  } = settings
  return {
    stateDir,
    cacheDir,
    ...(browser && { browser }),
    ...(pool && { pool }),
    ...(crawlPages !== undefined && { crawlPages }),
    ...(browserMemoryBytes !== undefined && { browserMemoryBytes }),
    ...(model && { model }),
    builtinExtractor,
    ...(search && { search }),
    ...(shell && { shell }),
    ...(profileKey && { profileKey }),
    ...(webhookSecret && { webhookSecret }),
    display: hasDisplay(io),
    // The caller is the local user, whose files are protected by the system.
    writeAnywhere: true,
  }
}

/** Checks if this machine can show windows. */
export const hasDisplay = ({ env, host }: Io): boolean =>
  host.platform === 'darwin' || host.platform === 'win32' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])
