import { expect, test } from 'vitest'
import { assertTotp, totpCode } from '../../../src/engine/store/totp.ts'

/** Base32 of the ASCII secrets of RFC 6238, appendix B: `12345678901234567890`, repeated up to the size of the hash. */
const sha1 = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const sha256 = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA'
const sha512 = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNA'

/** Times in seconds, and the codes of eight digits for each hash. */
const vectors = [
  [59, '94287082', '46119246', '90693936'],
  [1111111109, '07081804', '68084774', '25091201'],
  [1111111111, '14050471', '67062674', '99943326'],
  [1234567890, '89005924', '91819424', '93441116'],
  [2000000000, '69279037', '90698825', '38618901'],
  [20000000000, '65353130', '77737706', '47863826'],
] as const

test.each(vectors)('makes the codes of RFC 6238 at second %i', async (secs, ...codes) => {
  const uri = (algorithm: string, secret: string) =>
    `otpauth://totp/Shop:ann?secret=${secret}&algorithm=${algorithm}&digits=8&period=30`
  const secrets = [uri('SHA1', sha1), uri('SHA256', sha256), uri('SHA512', sha512)]
  expect(await Promise.all(secrets.map((secret) => totpCode(secret, secs * 1000)))).toEqual(codes)
})

test('makes codes of six digits from a base32 secret, in any case and with blanks', async () => {
  for (const secret of [sha1, 'gezd gnbv gy3t qojq gezd gnbv gy3t qojq', 'GEZDGNBV-GY3TQOJQ-GEZDGNBV-GY3TQOJQ'])
    expect(await totpCode(secret, 59_000)).toBe('287082')
})

test.each([
  ['otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&algorithm=MD5', 'its parameter algorithm is missing or invalid'],
  ['otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&period=0', 'its parameter period is missing or invalid'],
  ['otpauth://totp/a?secret=1', 'its parameter secret is missing or invalid'],
  ['otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP&counter=1', 'codes of otpauth://hotp are not supported'],
  ['JBSW1', 'base32 has the letters A to Z and 2 to 7'],
])('says what is wrong with %s, without the secret', async (secret, why) => {
  await expect(assertTotp(secret)).rejects.toMatchObject({
    code: 'invalid_request',
    message: `totp is neither base32 nor a valid otpauth://totp/ URI: ${why}`,
  })
})
