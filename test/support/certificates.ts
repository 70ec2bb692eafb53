/** Certificates of a private CA, made by openssl. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingPrograms } from './needs.ts'

/** The reason why tests that need certificates are skipped; null if openssl is installed. */
export const noOpenssl: string | null = missingPrograms('openssl')

export interface TestCa {
  /** File with the certificate of the CA. */
  readonly file: string
  /** Issues a certificate for a subject such as `IP:127.0.0.1`. */
  issue(name: string, subject: string): IssuedCertificate
}

interface IssuedCertificate {
  readonly certFile: string
  readonly keyFile: string
  readonly cert: string
  readonly key: string
}

/** Creates a CA in a folder. */
export function createCa(folder: string): TestCa {
  const make = (name: string, ...flags: string[]): IssuedCertificate => {
    const [certFile, keyFile] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)]
    const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    const files = ['-subj', `/CN=${name}`, '-keyout', keyFile, '-out', certFile]
    execFileSync('openssl', ['req', '-x509', ...fresh, ...files, ...flags], { stdio: 'ignore' })
    return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') }
  }
  const { certFile: file, keyFile } = make('ca')
  const signed = ['-CA', file, '-CAkey', keyFile, '-addext', 'basicConstraints=CA:FALSE']
  return { file, issue: (name, subject) => make(name, ...signed, '-addext', `subjectAltName=${subject}`) }
}
