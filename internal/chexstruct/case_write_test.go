package chexstruct

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every golden case written and read back is the same case.
func TestCaseRoundTrip(t *testing.T) {
	files, err := filepath.Glob("testdata/*/open_*.json")
	require.NoError(t, err)
	if len(files) == 0 {
		files, err = filepath.Glob("testdata/open_*.json")
		require.NoError(t, err)
	}
	require.NotEmpty(t, files)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		c, err := ParseCase(f, data)
		require.NoError(t, err)
		text, err := c.Encode()
		require.NoError(t, err)
		back, err := ParseCase(f, text)
		require.NoError(t, err)
		require.Equal(t, c.Input.Masks.Encode(), back.Input.Masks.Encode())
		require.Equal(t, c.Input.Boxes, back.Input.Boxes)
		require.Equal(t, [3]any{c.ID, c.Image, c.Input.View}, [3]any{back.ID, back.Image, back.Input.View})
		require.Equal(t, c.Input.NativeWidth, back.Input.NativeWidth)
		require.Equal(t, c.Input.CheXmaskRightLung == nil, back.Input.CheXmaskRightLung == nil)
		if c.Input.CheXmaskRightLung != nil {
			require.True(t, c.Input.CheXmaskRightLung.Equal(*back.Input.CheXmaskRightLung))
		}
	}
}
