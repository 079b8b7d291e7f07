package office

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumberFormats(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ code, stored, want string }{
		{"0.0%", "0.0839721254355401", "8.4%"},
		{"0%", "1", "100%"},
		{"00000", "1067", "01067"},
		{"000.0", "-7.25", "-007.2"},
		{"#,##000", "1234", "1234"},
		{"General", "0.30000000000000004", "0.3"},
		{"0", "2.7", "3"},
		{"0", "0.004", "0.004"},
		{"#,##0.00", "1234.5", "1234.5"},
		{"#,##0.00", "1234.5678", "1234.57"},
		{`#,##0.00\ "€";[Red]-#,##0.00\ "€"`, "-12.345", "-12.35 €"},
		{"[$£-809]#,##0.00", "-3.14159", "-£3.14"},
		{"0.00E+00", "12345.678", "12345.678"},
		{"# ?/?", "0.5", "0.5"},
		{"#,##0,", "1234567", "1234567"},
		{`0" days"`, "3", "3 days"},
		{"@", "5", "5"},
		{`"open`, "5", "5"},
		{"0.00", "no number", "no number"},
		{"0.00", "1e300", "1e+300"},
	} {
		t.Run(tc.code, func(t *testing.T) {
			assert.Equal(t, tc.want, newCellFormat(tc.code).number(tc.stored), "%q of %s", tc.code, tc.stored)
		})
	}
}
