package extract

// The Latin letters with marks that Unicode (UnicodeData, canonical and compatibility decompositions) reduces to one plain letter, by
// code point from the start of each block. A space means that the letter stays unchanged. Letters with a stroke (ø, đ, ł) are added by
// hand, since they have no decomposition.
const (
	foldFirst = 0xC0
	foldBasic = "aaaaaa ceeeeiiiidnooooo ouuuuy  aaaaaa ceeeeiiiidnooooo ouuuuy yaaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii  jjkkkllllll  llnnnnnnnnnoooooo  rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"

	foldMoreFirst = 0x1CD
	foldMore      = "aaiioouuuuuuuuuu"

	foldAddFirst = 0x1E00
	foldAdd      = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwy s    aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy      "
)

// foldLatin returns the plain lower-case letter of r, or 0 if r is not a Latin letter with a mark.
func foldLatin(r rune) byte {
	var c byte
	switch {
	case r < foldFirst:
	case r < foldFirst+rune(len(foldBasic)):
		c = foldBasic[r-foldFirst]
	case r >= foldMoreFirst && r < foldMoreFirst+rune(len(foldMore)):
		c = foldMore[r-foldMoreFirst]
	case r >= foldAddFirst && r < foldAddFirst+rune(len(foldAdd)):
		c = foldAdd[r-foldAddFirst]
	}
	if c == ' ' {
		return 0
	}
	return c
}
