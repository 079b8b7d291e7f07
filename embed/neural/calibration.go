package neural

import (
	"encoding/json"
	"fmt"
)

// Calibration describes the distribution of a model's scores. A score is the inner product of the vectors of a query and a document,
// each after subtraction of the mean vector of its kind and normalisation. The subtraction spreads the scores of models whose cosines
// all lie close together. Means and deviations are measured on related and on unrelated pairs of texts in many languages.
//
// It is an alias of an unnamed struct, so that other packages can declare an interface with a method that returns a Calibration
// without importing this package.
type Calibration = struct {
	// QueryMean and DocumentMean are the mean vectors of queries and of documents,
	// [Dim]float32.
	QueryMean, DocumentMean []float32
	// UnrelatedMean and UnrelatedStd are the mean and standard deviation of the scores of unrelated pairs, RelatedMean and RelatedStd
	// those of related pairs.
	UnrelatedMean, UnrelatedStd, RelatedMean, RelatedStd float32
}

// calibrationFile is the JSON of a Calibration.
type calibrationFile struct {
	QueryMean     []float32 `json:"query_mean"`
	DocumentMean  []float32 `json:"document_mean"`
	UnrelatedMean float32   `json:"unrelated_mean"`
	UnrelatedStd  float32   `json:"unrelated_std"`
	RelatedMean   float32   `json:"related_mean"`
	RelatedStd    float32   `json:"related_std"`
}

func readCalibration(data []byte, dim int) (*Calibration, error) {
	var f calibrationFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s: %w", CalibrationFile, err)
	}
	if len(f.QueryMean) != dim || len(f.DocumentMean) != dim {
		return nil, fmt.Errorf("%s: mean vectors must have %d numbers", CalibrationFile, dim)
	}
	if f.UnrelatedStd <= 0 || f.RelatedStd <= 0 || f.RelatedMean <= f.UnrelatedMean {
		return nil, fmt.Errorf("%s: spreads must be above 0, and related pairs above unrelated ones", CalibrationFile)
	}
	return &Calibration{
		QueryMean: f.QueryMean, DocumentMean: f.DocumentMean,
		UnrelatedMean: f.UnrelatedMean, UnrelatedStd: f.UnrelatedStd, RelatedMean: f.RelatedMean, RelatedStd: f.RelatedStd,
	}, nil
}
