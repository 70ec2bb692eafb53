/** Settings of pages that Playwright can only set when it opens them, as overrides of its calls. */
import type { Override } from '../cdp/override-transport.ts'
import { clientHintsFor } from '../cdp/user-agents.ts'

export interface Screen {
  readonly size?: { readonly width: number; readonly height: number } | undefined
  readonly scale?: number | undefined
  readonly mobile?: boolean | undefined
}

export interface Media {
  readonly media?: string | undefined
  readonly color_scheme?: string | undefined
  readonly reduced_motion?: string | undefined
  readonly contrast?: string | undefined
  readonly forced_colors?: string | undefined
}

/** The methods that overrides change, by what they set. */
export const methods = {
  screen: 'Emulation.setDeviceMetricsOverride',
  touch: 'Emulation.setTouchEmulationEnabled',
  media: 'Emulation.setEmulatedMedia',
  userAgent: 'Emulation.setUserAgentOverride',
  locale: 'Emulation.setLocaleOverride',
  timezone: 'Emulation.setTimezoneOverride',
} as const

export const screenOverride = ({ size, scale, mobile }: Screen): Override => ({
  method: methods.screen,
  pagesOnly: true,
  params: (given) => {
    const { width, height } = { ...(given as { width: number; height: number } | undefined), ...size }
    const angle = mobile && width! > height! ? 90 : 0
    const type = mobile && angle === 0 ? 'portraitPrimary' : 'landscapePrimary'
    return {
      ...given,
      width: width ?? 0,
      height: height ?? 0,
      screenWidth: width,
      screenHeight: height,
      deviceScaleFactor: scale ?? (given?.['deviceScaleFactor'] as number | undefined) ?? 0,
      mobile: mobile ?? given?.['mobile'] ?? false,
      screenOrientation: { angle, type },
    }
  },
  clear: { method: 'Emulation.clearDeviceMetricsOverride', params: {} },
})

export const touchOverride = (): Override => ({
  method: methods.touch,
  params: () => ({ enabled: true }),
  clear: { method: methods.touch, params: { enabled: false } },
})

export const mediaOverride = (media: Media): Override => ({
  method: methods.media,
  everySession: true,
  params: (given) => {
    const features: Record<string, string> = {}
    for (const { name, value } of (given?.['features'] ?? []) as Feature[]) features[name] = value
    for (const [field, name] of Object.entries(featureNames)) {
      const value = media[field as keyof typeof featureNames]
      if (value !== undefined) features[name] = value
    }
    return {
      media: media.media ?? given?.['media'] ?? '',
      features: Object.entries(features).map(([name, value]) => ({ name, value })),
    }
  },
  clear: { method: methods.media, params: { media: '', features: [] } },
})

interface Feature {
  readonly name: string
  readonly value: string
}

const featureNames = {
  color_scheme: 'prefers-color-scheme',
  reduced_motion: 'prefers-reduced-motion',
  contrast: 'prefers-contrast',
  forced_colors: 'forced-colors',
} as const

/** Sets the user agent, with matching client hints, and the languages. */
export const userAgentOverride = (
  userAgent: string | undefined,
  locale: string | undefined,
  version: string,
): Override => ({
  method: methods.userAgent,
  everySession: true,
  params: (given) => {
    const { hints, platform } = userAgent === undefined ? {} : clientHintsFor(userAgent, version)
    const language = locale ?? given?.['acceptLanguage']
    if (userAgent === undefined) return { userAgent: '', ...given, ...(locale && { acceptLanguage: locale }) }
    return {
      userAgent,
      ...(language !== undefined && { acceptLanguage: language }),
      ...(hints && { userAgentMetadata: hints }),
      ...(platform && { platform }),
    }
  },
  clear: { method: methods.userAgent, params: { userAgent: '' } },
})

export const localeOverride = (locale: string): Override => ({
  method: methods.locale,
  params: () => ({ locale }),
  clear: { method: methods.locale, params: {} },
})

export const timezoneOverride = (timezoneId: string): Override => ({
  method: methods.timezone,
  params: () => ({ timezoneId }),
  clear: { method: methods.timezone, params: { timezoneId: '' } },
})
