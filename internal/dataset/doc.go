// Package dataset reads published data formats, one file of code per format, and lays
// other pictures out in the main one.
//
// The pictures come in the layout of MIMIC-CXR-JPG ([OpenMIMIC]): tables beside a folder
// of files. Companions are the boxes of Chest ImaGenome ([OpenImaGenome]), the lung masks
// of CheXmask ([OpenCheXmask]) and the output folders of the CXAS segmentation program
// ([OpenCXAS]). [LayOut] writes the main layout for any pictures, [Check] looks a folder
// over and says what is wrong with it.
//
// Texts and questions stream record by record: the LLaVA-Rad annotations ([OpenLLaVARad]), SLAKE
// ([SlakeRecords]), OpenI ([OpenIReports]) and Rad-ReStruct ([OpenRadReStruct]). Here a broken
// record is an error that names file, record and field: a text has no file to fall back on.
//
// Terms. A table row leads to exactly one [Outcome]: kept, filtered (the selection does
// not want it) or quarantined (it is broken), each with a reason out of a closed set.
// [Accounting] counts outcomes and proves that nothing was lost: in = kept + filtered +
// quarantined. A case number is the row's place in the metadata table, from 1; it is ours,
// depends on the table alone, and stands wherever a published identifier would tell too
// much. Identifiers live in [Source] only, which belongs inside the artifact store and
// never into histories, workflow ids, logs or progress displays.
//
// Expected absence is data: a missing box, an empty mask cell, a cut file is an outcome
// with a reason. An error means that the table itself or the storage cannot be read.
//
// Readers take an fs.FS and stream: memory does not grow with the number of rows read,
// except for lookup tables of 48 bytes a row where a second table must be joined.
// The package opens no network connection and reads no clock.
//
//	m, err := dataset.OpenMIMIC(os.DirFS(root), dataset.MIMICOptions{
//		Selection: dataset.Selection{Views: []cxr.ViewPosition{cxr.ViewPA, cxr.ViewAP}},
//	})
//	for row, err := range m.Rows(0, -1) { ... }
package dataset
