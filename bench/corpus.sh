#!/usr/bin/env bash
# Makes the text corpus of the benchmarks: one short document a line, 244,000 in all, from two Debian packages
# that are fetched now and never kept in the repository: the glosses of WordNet 3.0 (wordnet-base, WordNet
# licence), then the paragraphs of the GNU Collaborative International Dictionary of English (dict-gcide, GPL).
# Usage: corpus.sh FILE [DOCUMENTS]. Needs apt-get with a package list, dpkg-deb, gzip, awk.
set -euo pipefail
export LC_ALL=C
out=${1:?usage: corpus.sh FILE [DOCUMENTS]}
count=${2:-244000}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

(cd "$tmp" && apt-get download -qq -o APT::Sandbox::User=root wordnet-base dict-gcide)
for deb in "$tmp"/*.deb; do dpkg-deb -x "$deb" "$tmp/x"; done

# A line of a data file is numbers, the words of a set of synonyms, pointers, then " | " and the gloss.
glosses() {
  for part in noun verb adj adv; do
    grep -v '^  ' "$tmp/x/usr/share/wordnet/data.$part"
  done | awk '{
    bar = index($0, " | "); if (!bar) next
    words = ""
    n = ("0x" $4) ~ /./ ? hex($4) : 0
    for (i = 0; i < n; i++) { w = $(5 + 2 * i); gsub(/_/, " ", w); words = words w ", " }
    print words substr($0, bar + 3)
  }
  function hex(s,   i, v) { v = 0; for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return v }'
}

# A headword begins a line, what is said of it is indented; an empty line ends a paragraph.
paragraphs() {
  gzip -dc <"$tmp/x/usr/share/dictd/gcide.dict.dz" | iconv -f UTF-8 -t UTF-8 -c | awk '
    function flush() { if (words >= 5) print text; text = ""; words = 0 }
    /^[^ \t]/ { flush(); head = $0; sub(/ *[\\\[(,].*/, "", head); next }
    NF == 0 { flush(); next }
    { if (words == 0) text = head ": "; else text = text " "; $1 = $1; text = text $0; words += NF }
    END { flush() }' | tail -n +30
}

{ glosses; paragraphs; } | awk -v count="$count" 'NR <= count { print } NR == count { done = 1 } END { if (!done) { print "only " NR " documents" > "/dev/stderr"; exit 1 } }' >"$out"
sha256sum "$out"
wc -l -w -c "$out"
