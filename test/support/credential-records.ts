/** Encrypted credentials in memory. */
import type { CredentialRecords } from '../../src/engine/store/credentials.ts'
import type { EncryptedText } from '../../src/engine/store/encryption.ts'

/** Returns empty records; `listed` are the IDs of those that were read together. */
export function memoryRecords(): CredentialRecords & { readonly listed: string[] } {
  const records = new Map<string, EncryptedText>()
  const listed: string[] = []
  return {
    listed,
    readAll: async (isWanted) => {
      const wanted = [...records].filter(([id]) => isWanted(id))
      listed.push(...wanted.map(([id]) => id))
      return wanted.map(([id, stored]) => ({ id, stored }))
    },
    read: async (id) => records.get(id),
    add: async (id, stored) => !records.has(id) && Boolean(records.set(id, stored)),
    replace: async (id, stored) => Boolean(records.set(id, stored)),
    delete: async (id) => records.delete(id),
  }
}
