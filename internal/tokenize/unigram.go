package tokenize

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"
)

// unigram is SentencePiece's unigram language model (Kudo, 2018): a word is divided into the pieces with the greatest sum of scores. A
// score is the logarithm of a probability.
type unigram struct {
	pieces  trie // maps pieces to ids
	scores  []byte
	wide    bool // scores are float64, else float32
	unk     int32
	unkCost float64 // score of a character that is not a piece
	fuse    bool    // adjacent unknown characters become one token
}

// unkPenalty is how much lower the score of an unknown character is than the lowest score of a piece.
const unkPenalty = 10

// node is the best division of a word up to a place.
type node struct {
	score float64
	from  int32 // start of its last piece; -1 if there is no division yet
	id    int32
}

func (u *unigram) score(id int32) float64 {
	if u.wide {
		return math.Float64frombits(binary.LittleEndian.Uint64(u.scores[8*int(id):]))
	}
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(u.scores[4*int(id):])))
}

// count returns the number of pieces.
func (u *unigram) count() int {
	if u.wide {
		return len(u.scores) / 8
	}
	return len(u.scores) / 4
}

func (u *unigram) unknown() int32 { return u.unk }

// append finds the best division of word (Viterbi, 1967). Its time is linear in the length of word, because the length of a piece is
// bounded by the depth of the trie.
func (u *unigram) append(dst []int32, word []byte, s *scratch) []int32 {
	nodes := s.nodes[:0]
	for range len(word) + 1 {
		nodes = append(nodes, node{from: -1})
	}
	s.nodes = nodes
	count := int32(u.count())
	for at := 0; at < len(word); {
		_, width := utf8.DecodeRune(word[at:])
		here := nodes[at].score
		single := false // some piece is exactly the character
		n := u.pieces.root()
		for i := at; i < len(word); i++ {
			id, more := u.pieces.step(&n, word[i])
			if !more {
				break
			}
			if id < 0 || id >= count {
				continue
			}
			end := i + 1
			if sum := u.score(id) + here; nodes[end].from < 0 || sum > nodes[end].score {
				nodes[end] = node{sum, int32(at), id}
			}
			single = single || end-at == width
		}
		if end := at + width; !single {
			if sum := u.unkCost + here; nodes[end].from < 0 || sum > nodes[end].score {
				nodes[end] = node{sum, int32(at), u.unk}
			}
		}
		at += width
	}
	return u.trace(dst, nodes)
}

// trace appends the ids of the best division, which it follows from the end.
func (u *unigram) trace(dst []int32, nodes []node) []int32 {
	begin := len(dst)
	for at := len(nodes) - 1; at > 0; at = int(nodes[at].from) {
		id := nodes[at].id
		if n := len(dst); id == u.unk && u.fuse && n > begin && dst[n-1] == u.unk {
			continue
		}
		dst = append(dst, id)
	}
	for i, j := begin, len(dst)-1; i < j; i, j = i+1, j-1 {
		dst[i], dst[j] = dst[j], dst[i]
	}
	return dst
}

// metaspace replaces spaces by a character that marks the beginnings of words.
type metaspace struct {
	mark   []byte
	scheme string // "always", "first", "never": which parts get a mark at their beginning
	whole  bool   // not split into words
}

func (m *metaspace) split(dst *words, text []byte, first bool) {
	if len(text) > 0 && (m.scheme == "always" || m.scheme == "first" && first) &&
		text[0] != ' ' && !bytes.HasPrefix(text, m.mark) {
		dst.text = append(dst.text, m.mark...)
	}
	for len(text) > 0 {
		size := 1
		if text[0] != ' ' {
			size = len(m.mark)
			if !bytes.HasPrefix(text, m.mark) {
				dst.text = append(dst.text, text[0])
				text = text[1:]
				continue
			}
		}
		if !m.whole {
			dst.end()
		}
		dst.text = append(dst.text, m.mark...)
		text = text[size:]
	}
	dst.end()
}
