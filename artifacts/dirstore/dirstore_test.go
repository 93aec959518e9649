package dirstore_test

import (
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/storetest"
)

func TestConformance(t *testing.T) {
	for name, d := range map[string]dirstore.Durability{"process": dirstore.DurabilityProcess, "power": dirstore.DurabilityPower} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, storetest.Options{}, func(t *testing.T) artifacts.Bucket {
				b, err := dirstore.Open(t.TempDir(), dirstore.Options{Durability: d})
				if err != nil {
					t.Fatal(err)
				}
				return b
			})
		})
	}
}
