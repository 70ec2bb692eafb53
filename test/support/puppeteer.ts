/** Puppeteer, with types for the parts that tests use. */
import { packageFolder } from './packages.ts'

export interface PuppeteerPage {
  goto(url: string): Promise<unknown>
  url(): string
  title(): Promise<string>
  evaluate(expression: string): Promise<unknown>
  screenshot(): Promise<Uint8Array>
  click(selector: string): Promise<void>
  $(selector: string): Promise<{ uploadFile(path: string): Promise<void> } | null>
  close(): Promise<void>
}

export interface Puppeteer {
  connect(options: {
    readonly browserWSEndpoint?: string
    readonly browserURL?: string
    readonly headers?: Record<string, string>
    readonly defaultViewport: null
    readonly downloadBehavior?: { readonly policy: string; readonly downloadPath: string }
  }): Promise<{
    pages(): Promise<PuppeteerPage[]>
    newPage(): Promise<PuppeteerPage>
    disconnect(): Promise<void>
  }>
}

/** Returns the URL of puppeteer-core as a module, installed on first use; rejects without a registry. */
export const puppeteerModule = async (): Promise<string> =>
  new URL('lib/esm/puppeteer/puppeteer-core.js', await packageFolder('puppeteer-core', '24.43.1')).href

export async function loadPuppeteer(): Promise<Puppeteer> {
  return ((await import(await puppeteerModule())) as { default: Puppeteer }).default
}
