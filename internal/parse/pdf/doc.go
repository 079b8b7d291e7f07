// Package pdf reads the text of PDF documents (ISO 32000) and puts it in reading order.
//
// [Parse] is the whole of it. Below it, from the bytes up: a lexer and parser of objects; cross-reference tables and
// streams with a repair scan for files whose tables are broken; decryption with the empty password; stream filters;
// fonts, which turn character codes into text and widths; an interpreter of page contents, which yields placed
// glyphs; and the layout, which makes words, lines, columns, tables and paragraphs from where the glyphs stand.
//
// All input is untrusted: sizes, counts, depth and work are bounded by [Limits] and by fixed budgets, cancellation is
// seen inside every loop, and no panic escapes.
package pdf
