package dataset

import (
	"bytes"
	"os"
	"testing"

	"cxrepro/internal/anatomy"
)

// The text decoders: any bytes give a result inside the picture or an error.
func FuzzDecodeRLE(f *testing.F) {
	f.Add("1 3 8 2")
	f.Add("12 1 11 1")
	f.Add(" 1\n99999999999999999999")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := decodeRLE(13, 10, text)
		if err == nil && (m.Validate() != nil || m.Area() > 130) {
			t.Fatalf("%q gives an impossible mask", text)
		}
	})
}

func FuzzLandmarks(f *testing.F) {
	f.Add(flat(square120()), uint8(1))
	f.Add(printed(square120()), uint8(3))
	f.Add("[[1e9 -0 ...", uint8(2))
	f.Fuzz(func(t *testing.T, text string, o uint8) {
		organ := Organ(o%3 + 1)
		pts, err := organLandmarks(text, organ)
		if err != nil {
			return
		}
		if m := fillPolygon(20, 15, pts); m.Validate() != nil {
			t.Fatal("impossible mask")
		}
	})
}

func FuzzArray(f *testing.F) {
	data, err := os.ReadFile("testdata/cxas/array.npy")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[:400])
	f.Add(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (159, 2, 3), }", 159*6))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := newMasks(3, 2, anatomy.AllSet())
		if err != nil {
			t.Fatal(err)
		}
		_ = readArray(bytes.NewReader(data), out, anatomy.AllSet()) // must not panic
	})
}

func FuzzScene(f *testing.F) {
	f.Add([]byte(scene("a", object(BoxHeart, "1", "2", "300", "4"))))
	f.Add([]byte(`{"objects":[{"bbox_name":"cardiac silhouette","original_x1":{}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, bad := parseScene(data, "a")
		if bad != "" {
			return
		}
		b := findBox(objects, BoxHeart, 100, 80)
		if b.State == BoxPresent && (b.Box.X0 < 0 || b.Box.Y0 < 0 || b.Box.X1 > 99 || b.Box.Y1 > 79 || b.Box.X1 <= b.Box.X0 || b.Box.Y1 <= b.Box.Y0) {
			t.Fatalf("box %+v outside the picture", b)
		}
	})
}

func FuzzCheXmaskIndex(f *testing.F) {
	folder := newFolder()
	folder.put("c.csv", chexmaskTable(f))
	c, err := OpenCheXmask(folder, "c.csv", CheXmaskOptions{})
	if err != nil {
		f.Fatal(err)
	}
	x, err := c.BuildIndex()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(x.Encode())
	f.Add(x.Encode()[:indexHead])
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := DecodeCheXmaskIndex(data)
		if err != nil {
			return
		}
		if !bytes.Equal(x.Encode(), data) {
			t.Fatal("an index that was read is written in another way")
		}
		for r := range c.Records() {
			_, _, _ = c.Lookup(x, r.ID) // must not panic
		}
	})
}

// FuzzMetadata: any table gives rows with exactly one outcome each, or one error.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte("dicom_id,subject_id,study_id,ViewPosition,Rows,Columns\na,10000001,50000001,PA,1,1\n"))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Add([]byte("dicom_id,subject_id,study_id,ViewPosition,Rows,Columns\n\"a,10000001"))
	f.Fuzz(func(t *testing.T, data []byte) {
		folder := newFolder()
		folder.put("mimic-cxr-2.0.0-metadata.csv", string(data))
		m, err := OpenMIMIC(folder, frontal())
		if err != nil {
			return
		}
		var books Accounting
		for row, err := range m.Rows(0, -1) {
			if err != nil {
				break
			}
			books.Meet(1)
			if err := books.Decide(row.Entry.Outcome); err != nil {
				t.Fatal(err)
			}
			if row.Entry.Outcome == Kept && row.Source.Path == "" {
				t.Fatal("a kept row without a path")
			}
		}
		if err := books.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
