/** One-time codes of RFC 6238. */
import { BaxError, messageOf } from '../../core/errors/errors.ts'

/** Returns the code for a time; `secret` is base32, or an `otpauth://totp/` URI with further parameters. */
export async function totpCode(secret: string, now: number): Promise<string> {
  return (await parse(secret)).generate({ timestamp: now })
}

/** @throws BaxError `invalid_request` unless codes can be made of the secret; it is not in the message. */
export async function assertTotp(secret: string): Promise<void> {
  await parse(secret)
}

async function parse(secret: string) {
  const { Secret, TOTP, URI } = await import('otpauth')
  try {
    if (!secret.includes(':')) return new TOTP({ secret: Secret.fromBase32(secret.replaceAll(/[\s-]/g, '')) })
    const made = URI.parse(secret)
    if (made instanceof TOTP) return made
  } catch (cause) {
    const message = messageOf(cause)
    const [, parameter] = /'(\w+)' parameter$/.exec(message) ?? []
    if (parameter) throw invalidSecret(`its parameter ${parameter} is missing or invalid`)
    throw invalidSecret(message.startsWith('Invalid character') ? 'base32 has the letters A to Z and 2 to 7' : '')
  }
  throw invalidSecret('codes of otpauth://hotp are not supported')
}

const invalidSecret = (why: string): BaxError =>
  new BaxError('invalid_request', `totp is neither base32 nor a valid otpauth://totp/ URI${why && `: ${why}`}`, {
    details: [{ path: 'totp', message: 'is invalid' }],
  })
