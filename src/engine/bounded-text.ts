/** Reads the body of a response as text. @throws the error of `tooLong` when it has more than `maxBytes` bytes */
export async function boundedText(response: Response, maxBytes: number, tooLong: () => Error): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooLong()
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
