package phantom

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/chexstruct"
)

func decode(t *testing.T, v chexstruct.Value, into any) {
	t.Helper()
	b, err := v.MarshalJSON()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, into))
}

func text(t *testing.T, v chexstruct.Value) (s string) {
	t.Helper()
	decode(t, v, &s)
	return s
}
