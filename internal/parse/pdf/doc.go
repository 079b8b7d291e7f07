// Package pdf reads the text of PDF documents (ISO 32000) and puts it in reading order.
//
// The entry point is [Parse]. The parts, from the bytes up: a lexer and parser of objects; cross-reference tables and streams, with a
// repair scan for files whose tables are broken; decryption with the empty password; stream filters; fonts, which turn character codes into
// text and widths; an interpreter of page contents, which yields placed glyphs; and the layout, which makes words, lines, columns, tables
// and paragraphs from the positions of glyphs.
//
// All input is untrusted. [Limits] and fixed budgets bound sizes, counts, depth and work; every loop checks for cancellation, and no panic
// escapes.
package pdf
