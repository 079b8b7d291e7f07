package parse

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"strconv"
)

const maxMutant = 256 << 10

// mutate returns a damaged copy of one of the seeds, with one to four changes of its bytes or of its packed content.
func mutate(rnd *rand.Rand, seeds [][]byte) []byte {
	data := bytes.Clone(seeds[rnd.IntN(len(seeds))])
	for range 1 + rnd.IntN(4) {
		switch {
		case bytes.HasPrefix(data, []byte("PK\x03\x04")) && rnd.IntN(4) > 0:
			data = mutateZip(rnd, data, seeds)
		case bytes.HasPrefix(data, []byte("%PDF")) && rnd.IntN(2) > 0:
			data = mutateStream(rnd, data, seeds)
		default:
			data = mutateBytes(rnd, data, seeds)
		}
	}
	return data[:min(len(data), maxMutant)]
}

// span returns a random part of data, at most limit bytes long.
func span(rnd *rand.Rand, data []byte, limit int) (from, to int) {
	from = rnd.IntN(len(data))
	return from, from + 1 + rnd.IntN(min(limit, len(data)-from))
}

// mutateBytes changes data without regard to its format.
func mutateBytes(rnd *rand.Rand, data []byte, seeds [][]byte) []byte {
	if len(data) == 0 {
		return []byte("x")
	}
	from, to := span(rnd, data, 1+rnd.IntN(len(data)))
	switch rnd.IntN(9) {
	case 0: // flip bits
		for range 1 + rnd.IntN(16) {
			data[rnd.IntN(len(data))] ^= 1 << rnd.IntN(8)
		}
		return data
	case 1: // bytes with a special meaning
		const marks = "\x00\xff\x7f\x80<>&;{}[]()\"'\\/\n\r\t =-09azAZ%#"
		for range 1 + rnd.IntN(8) {
			data[rnd.IntN(len(data))] = marks[rnd.IntN(len(marks))]
		}
		return data
	case 2:
		return data[:from]
	case 3:
		return append(data[:from:from], data[to:]...)
	case 4: // copy a part to another place
		at := rnd.IntN(len(data))
		return splice(data, at, data[from:to])
	case 5: // repeat a part: deep nesting, long lists
		from, to = element(rnd, data, from, to)
		times := 1 << rnd.IntN(13)
		return splice(data, from, bytes.Repeat(data[from:to], min(times, 1+maxMutant/4/(to-from))))
	case 6: // insert a part of another file
		other := seeds[rnd.IntN(len(seeds))]
		if len(other) == 0 {
			return data
		}
		a, b := span(rnd, other, len(other))
		return splice(data, from, other[a:b])
	case 7:
		return mutateNumber(rnd, data, from)
	default: // swap two parts
		mid := from + (to-from)/2
		return append(append(append(data[:from:from], data[mid:to]...), data[from:mid]...), data[to:]...)
	}
}

func splice(data []byte, at int, part []byte) []byte {
	return append(append(data[:at:at], part...), data[at:]...)
}

// element moves the ends of a span to those of tags, groups or lines, if there are any.
func element(rnd *rand.Rand, data []byte, from, to int) (int, int) {
	open := "<{[(\n\\"[rnd.IntN(6)]
	if i := bytes.LastIndexByte(data[:from+1], open); i >= 0 {
		from = i
	}
	stop := map[byte]byte{'<': '>', '{': '}', '[': ']', '(': ')', '\n': '\n', '\\': ' '}[open]
	if i := bytes.IndexByte(data[to-1:], stop); i >= 0 && rnd.IntN(2) == 0 {
		to += i
	}
	return from, max(to, from+1)
}

// mutateNumber replaces the number after from by a boundary value.
func mutateNumber(rnd *rand.Rand, data []byte, from int) []byte {
	digit := func(i int) bool { return i < len(data) && data[i] >= '0' && data[i] <= '9' }
	for from < len(data) && !digit(from) {
		from++
	}
	to := from
	for digit(to) {
		to++
	}
	if from == to {
		return data
	}
	numbers := []int64{0, 1, -1, 2, 255, 256, 65535, 65536, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1<<63 - 1, int64(rnd.IntN(1000)), int64(len(data))}
	return append(strconv.AppendInt(data[:from:from], numbers[rnd.IntN(len(numbers))], 10), data[to:]...)
}

// mutateZip changes the content of a file in the archive, drops or doubles one, or swaps names.
func mutateZip(rnd *rand.Rand, data []byte, seeds [][]byte) []byte {
	files := unzip(data)
	if len(files) == 0 {
		return mutateBytes(rnd, data, seeds)
	}
	i, k := rnd.IntN(len(files)), rnd.IntN(len(files))
	switch rnd.IntN(8) {
	case 0:
		files = append(files[:i], files[i+1:]...)
	case 1:
		files = append(files, part{files[k].name, files[i].data})
	case 2:
		files[i].name, files[k].name = files[k].name, files[i].name
	default:
		var others [][]byte
		for _, f := range files {
			others = append(others, []byte(f.data))
		}
		files[i].data = string(mutateBytes(rnd, []byte(files[i].data), others))
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.name)
		if err != nil {
			return data
		}
		_, _ = io.WriteString(w, f.data[:min(len(f.data), 1<<20)])
	}
	_ = z.Close()
	return b.Bytes()
}

func unzip(data []byte) []part {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil
	}
	var files []part
	for _, f := range z.File[:min(len(z.File), 64)] {
		r, err := f.Open()
		if err != nil {
			continue
		}
		content, _ := io.ReadAll(io.LimitReader(r, 1<<20))
		_ = r.Close()
		files = append(files, part{f.Name, string(content)})
	}
	return files
}

// mutateStream changes the uncompressed content of a PDF stream.
func mutateStream(rnd *rand.Rand, data []byte, seeds [][]byte) []byte {
	var starts []int
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte("stream\n"))
		if i < 0 {
			break
		}
		if at += i + len("stream\n"); !bytes.HasSuffix(data[:at-len("stream\n")], []byte("end")) {
			starts = append(starts, at)
		}
	}
	if len(starts) == 0 {
		return mutateBytes(rnd, data, seeds)
	}
	from := starts[rnd.IntN(len(starts))]
	n := bytes.Index(data[from:], []byte("endstream"))
	if n <= 0 {
		return mutateBytes(rnd, data, seeds)
	}
	body := bytes.Clone(data[from : from+n])
	if r, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
		plain, _ := io.ReadAll(io.LimitReader(r, 1<<20))
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		_, _ = w.Write(mutateBytes(rnd, plain, [][]byte{plain}))
		_ = w.Close()
		body = b.Bytes()
	} else {
		body = mutateBytes(rnd, body, seeds)
	}
	return append(append(data[:from:from], body...), data[from+n:]...)
}
