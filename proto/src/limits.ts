/** Bounds of the contract. Sizes of text are counted in characters (code points) unless the name says bytes. */

/** Longest identifier after trimming (contract section 2). */
export const MAX_IDENTIFIER_LENGTH = 256;
/** Activity text is cut here, in UTF-16 code units (contract section 2). */
export const MAX_ACTIVITY_LENGTH = 1024;
/** Nesting levels kept in `details`; what lies deeper is cut (contract section 2). */
export const MAX_DETAILS_DEPTH = 8;
/** Serialized size of `details`, in UTF-8 bytes; members beyond it are cut (contract section 2). */
export const MAX_DETAILS_BYTES = 16_384;
/** Longest JSONL line, in bytes without its line end; the default of the reader (contract section 6). */
export const DEFAULT_MAX_LINE_BYTES = 65_536;
/** JSONL problems described in full; further ones are only counted (contract section 6). */
export const MAX_JSONL_DIAGNOSTICS = 32;
/** Longest excerpt of bad input in a diagnostic, in UTF-16 code units. */
export const MAX_EXCERPT_LENGTH = 120;
/** Longest reserved text member of `details` (`name`, `model`, `tool` …) that is kept on a child. */
export const MAX_DETAIL_TEXT_LENGTH = 256;
/** Children one snapshot may list or cover. */
export const MAX_SNAPSHOT_CHILDREN = 100_000;
