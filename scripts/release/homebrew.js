// Writes the Homebrew formula of the npm package (https://docs.brew.sh/Formula-Cookbook), with its checksum.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The address is that in the registry that npm is configured for. */
export async function buildFormula({ output, description: { version, description, license, homepage } }) {
  const name = `bax-${version}.tgz`
  const packed = await readFile(join(output, name)).catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!packed) return { left: 'it needs the npm package; build "npm", too' }
  const { stdout } = await promisify(execFile)('npm', ['config', 'get', 'registry'])
  const registry = stdout.trim().replace(/\/*$/, '/')
  const file = join(output, 'bax.rb')
  const formula = `class Bax < Formula
  desc "${description.replace(/:.*/, '')}"
${homepage ? `  homepage "${homepage}"\n` : ''}  url "${new URL(`bax/-/${name}`, registry)}"
  sha256 "${createHash('sha256').update(packed).digest('hex')}"
  license "${license}"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/bax --version")
    assert_equal "# Hello\\n", pipe_output("#{bin}/bax extract -", "<h1>Hello</h1>")
  end
end
`
  await writeFile(file, formula)
  return file
}
