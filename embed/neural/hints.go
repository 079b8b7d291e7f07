package neural

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/contextmem/contextmem/internal/checkpoint"
)

// hints are the settings in the files of sentence-transformers.
type hints struct {
	pooling                     Pooling
	queryPrefix, documentPrefix string
	maxTokens                   int
	lower                       bool
	calibration                 []byte
}

// CalibrationFile is the name of the file, beside the weights, that holds the [Embedder.Calibration].
const CalibrationFile = "calibration.json"

const (
	modulesFile  = "modules.json"
	poolingFile  = "1_Pooling/config.json"
	lengthFile   = "sentence_bert_config.json"
	promptsFile  = "config_sentence_transformers.json"
	maxHintBytes = 1 << 20
)

// readHints reads those files of dir that exist.
func readHints(dir string) (h hints, err error) {
	pooling, err := readModules(dir)
	if err != nil {
		return h, err
	}
	var pool map[string]any
	if err := readJSON(dir, pooling, &pool); err != nil {
		return h, err
	}
	if h.pooling, err = poolingOf(pool); err != nil {
		return h, fmt.Errorf("%s: %w", pooling, err)
	}
	var length struct {
		MaxSeqLength int  `json:"max_seq_length"`
		DoLowerCase  bool `json:"do_lower_case"`
	}
	if err := readJSON(dir, lengthFile, &length); err != nil {
		return h, err
	}
	h.maxTokens, h.lower = length.MaxSeqLength, length.DoLowerCase
	var prompts struct {
		Prompts map[string]string `json:"prompts"`
	}
	if err := readJSON(dir, promptsFile, &prompts); err != nil {
		return h, err
	}
	h.queryPrefix, h.documentPrefix = prompts.Prompts["query"], prompts.Prompts["passage"]
	if h.documentPrefix == "" {
		h.documentPrefix = prompts.Prompts["document"]
	}
	h.calibration, err = checkpoint.Read(dir, CalibrationFile, maxHintBytes)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return h, err
}

// readJSON decodes a file into to; to stays unchanged if the file does not exist.
func readJSON(dir, name string, to any) error {
	data, err := checkpoint.Read(dir, name, maxHintBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readModules checks the processing steps of the model and returns the folder of its pooling configuration.
func readModules(dir string) (pooling string, err error) {
	var modules []struct{ Path, Type string }
	if err := readJSON(dir, modulesFile, &modules); err != nil {
		return "", err
	}
	pooling = poolingFile
	for _, m := range modules {
		kind := m.Type[strings.LastIndexByte(m.Type, '.')+1:]
		switch {
		case kind == "Normalize":
		case kind == "Transformer" && m.Path == "":
		case kind == "Pooling" && fs.ValidPath(m.Path):
			pooling = path.Join(m.Path, "config.json")
		default:
			return "", fmt.Errorf("%s: a module of type %q at %q is not supported", modulesFile, kind, m.Path)
		}
	}
	return pooling, nil
}

// poolingOf returns the pooling that a configuration names, "" if the configuration is empty.
func poolingOf(config map[string]any) (Pooling, error) {
	const prefix = "pooling_mode_"
	var modes []string
	for key, value := range config {
		if mode, ok := strings.CutPrefix(key, prefix); ok && value == true {
			modes = append(modes, mode)
		}
	}
	if mode, ok := config["pooling_mode"].(string); ok { // the form of newer files
		modes = append(modes, mode)
	}
	switch {
	case len(modes) == 0:
		return "", nil
	case len(modes) == 1 && (modes[0] == "mean_tokens" || modes[0] == "mean"):
		return Mean, nil
	case len(modes) == 1 && (modes[0] == "cls_token" || modes[0] == "cls"):
		return CLS, nil
	}
	return "", fmt.Errorf("pooling by %q is not supported", strings.Join(modes, ", "))
}
