/** The media type of a `Content-Type`, in lower case and without parameters; `undefined` when there is none. */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  return mediaType === "" ? undefined : mediaType;
}
