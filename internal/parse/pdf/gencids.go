//go:build ignore

// gencids writes data/cid/NAME.bin from Adobe's CID-to-Unicode CMaps (the mapping resources for PDF, BSD-3-Clause), such
// as those of Debian's package poppler-data:
//
//	go run gencids.go /usr/share/poppler/cMap
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

func main() {
	for _, ordering := range []string{"Adobe-Japan1", "Adobe-GB1", "Adobe-CNS1", "Adobe-Korea1", "Adobe-KR"} {
		data, err := os.ReadFile(filepath.Join(os.Args[1], ordering, ordering+"-UCS2"))
		if err != nil {
			log.Fatal(err)
		}
		texts := map[int]string{}
		last := 0
		for _, section := range regexp.MustCompile(`(?s)begin(bfchar|bfrange)(.*?)end(?:bfchar|bfrange)`).FindAllStringSubmatch(string(data), -1) {
			fields := regexp.MustCompile(`<[0-9a-fA-F]*>|\[|\]`).FindAllString(section[2], -1)
			for i := 0; i < len(fields); {
				from := number(fields[i])
				if section[1] == "bfchar" {
					texts[from] = text(fields[i+1], 0)
					last = max(last, from)
					i += 2
					continue
				}
				to := number(fields[i+1])
				if fields[i+2] == "[" {
					for k := range to - from + 1 {
						texts[from+k] = text(fields[i+3+k], 0)
					}
					i += to - from + 5
				} else {
					for k := range to - from + 1 {
						texts[from+k] = text(fields[i+2], k)
					}
					i += 3
				}
				last = max(last, to)
			}
		}
		var out []byte
		prev := rune(0)
		for cid := range last + 1 {
			runes := []rune(texts[cid])
			switch {
			case len(runes) == 0 || runes[0] == 0xfffd:
				out = append(out, 0)
				continue
			case len(runes) == 1:
				delta := int64(runes[0] - prev)
				out = binary.AppendUvarint(out, uint64(delta<<1^delta>>63)+2)
			default:
				out = binary.AppendUvarint(append(out, 1), uint64(len(runes)))
				for _, r := range runes {
					out = binary.AppendUvarint(out, uint64(r))
				}
			}
			prev = runes[0]
		}
		var packed bytes.Buffer
		w, _ := flate.NewWriter(&packed, flate.BestCompression)
		w.Write(out)
		w.Close()
		name := filepath.Join("data", "cid", ordering+".bin")
		if err := os.WriteFile(name, packed.Bytes(), 0o644); err != nil {
			log.Fatal(err)
		}
		fmt.Println(name, last+1, "CIDs,", packed.Len(), "bytes")
	}
}

func number(field string) int {
	n, err := strconv.ParseInt(strings.Trim(field, "<>"), 16, 32)
	if err != nil {
		log.Fatal(err)
	}
	return int(n)
}

// text decodes UTF-16BE and adds k to its last unit.
func text(field string, k int) string {
	b, err := hex.DecodeString(strings.Trim(field, "<>"))
	if err != nil {
		log.Fatal(err)
	}
	var units []uint16
	for i := 0; i+1 < len(b); i += 2 {
		units = append(units, binary.BigEndian.Uint16(b[i:]))
	}
	units[len(units)-1] += uint16(k)
	return string(utf16.Decode(units))
}
