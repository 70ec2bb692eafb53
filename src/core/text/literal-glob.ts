/** Returns a text as part of a URL glob that matches only it; `?` is no wildcard there. */
export const literalGlob = (text: string): string => text.replaceAll(/[\\*{}[\]()!+@|]/g, '\\$&')
