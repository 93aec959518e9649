package cxr

import "encoding/binary"

const tagOrientation = 0x0112

// setOrientation reads the orientation from a TIFF structure, as EXIF embeds it. Anything
// malformed leaves the header as it is; a value outside 1..8 is noted.
func setOrientation(h *Header, tiff []byte) {
	v, ok := exifOrientation(tiff)
	switch {
	case !ok:
	case v >= 1 && v <= 8:
		h.Orientation = v
	default:
		h.exifInvalid = true
	}
}

// exifOrientation returns the orientation tag of the first directory.
func exifOrientation(tiff []byte) (int, bool) {
	if len(tiff) < 8 {
		return 0, false
	}
	var order binary.ByteOrder
	switch string(tiff[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return 0, false
	}
	at := int64(order.Uint32(tiff[4:]))
	if at < 8 || at+2 > int64(len(tiff)) {
		return 0, false
	}
	n := int64(order.Uint16(tiff[at:]))
	for i := range n {
		e := at + 2 + 12*i
		if e+12 > int64(len(tiff)) {
			return 0, false
		}
		if order.Uint16(tiff[e:]) != tagOrientation {
			continue
		}
		if order.Uint32(tiff[e+4:]) != 1 {
			return 0, false
		}
		switch order.Uint16(tiff[e+2:]) {
		case 1:
			return int(tiff[e+8]), true
		case 3:
			return int(order.Uint16(tiff[e+8:])), true
		case 4:
			return int(min(order.Uint32(tiff[e+8:]), 1<<16)), true
		}
		return 0, false
	}
	return 0, false
}
