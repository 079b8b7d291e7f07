package office

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSerialDates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   string
		kind dateKind
		d04  bool
		want string
	}{
		{"1", dateOnly, false, "1900-01-01"}, {"59", dateOnly, false, "1900-02-28"}, {"61", dateOnly, false, "1900-03-01"},
		{"0", dateOnly, true, "1904-01-01"}, {"0.75", timeOnly, false, "18:00"}, {"45352.000012", dateTime, false, "2024-03-01 00:00:01"},
		{"-1", dateOnly, false, ""}, {"1e300", dateOnly, false, ""}, {"x", dateOnly, false, ""}, {"30.5", timeOnly, false, ""},
		{"1.5", elapsed, false, "36:00"}, {"0.0625", elapsed, true, "1:30"}, {"2.250011574", elapsed, false, "54:00:01"},
	} {
		t.Run(tc.in, func(t *testing.T) {
			assert.Equal(t, tc.want, serialDate(tc.in, tc.kind, tc.d04), "%+v", tc)
		})
	}
	for code, want := range map[string]dateKind{
		"General": notDate, "0.00": notDate, `#,##0 "days"`: notDate, "[Red]0": notDate, "dd/mm/yyyy": dateOnly, "h:mm AM/PM": timeOnly,
		"[h]:mm": elapsed, "[mm]:ss": timeOnly, `yyyy"h"`: dateOnly, "m/d/yy h:mm": dateTime, "mmm": dateOnly, "0.00E+00": notDate, `0\d`: notDate,
	} {
		t.Run(code, func(t *testing.T) {
			assert.Equal(t, want, formatKind(code), code)
		})
	}
}
