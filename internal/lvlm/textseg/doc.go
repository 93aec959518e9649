// Package textseg asks a segmentation service that takes words: it outlines what a text names in
// a picture. It stands behind region_parse for targets that no structure is called.
//
// The service is a small HTTP contract of ours that any such model can be put behind:
//
//	POST URL  {"schema":1,"model":NAME,"prompt":TEXT,"image":{"media_type":...,"data":BASE64}}
//	200       {"model":NAME,"size":[HEIGHT,WIDTH],"counts":TEXT}
//
// counts is the mask as compressed COCO run lengths (column by column), at any size; a mask
// without pixels means that the finding is not there. The name of the model is part of every
// key, and a reply of another model is refused.
//
// Before a picture leaves, its data-use class is held against what the operator vouches for.
// Nothing is tried twice here. Failures are *lvlm.CallError and hold neither prompt nor
// credential.
package textseg
