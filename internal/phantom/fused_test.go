//go:build crosscompile

package phantom

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// A processor with fused multiply-add must not round differently: the code compiled for
// one holds no such instruction. Build tag, because it compiles the package for arm64.
func TestNoFusedMultiplyAdd(t *testing.T) {
	cmd := exec.Command("go", "build", "-gcflags=-S", ".")
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(out) == 0 {
		t.Fatal("the compiler gave no listing: nothing was looked at")
	}
	for _, line := range regexp.MustCompile(`(?m)^.*FN?M(ADD|SUB)[SD].*$`).FindAll(out, -1) {
		t.Errorf("%s", line)
	}
}
