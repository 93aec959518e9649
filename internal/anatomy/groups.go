package anatomy

// ThoracicVertebra returns T1..T12; an invalid structure for any other n.
func ThoracicVertebra(n int) Structure {
	if n < 1 || n > 12 {
		return 0
	}
	return VertebraT1 + Structure(n-1)
}

var rightPosteriorRibs = [...]Structure{
	RightPosterior1stRib, RightPosterior2ndRib, RightPosterior3rdRib, RightPosterior4thRib,
	RightPosterior5thRib, RightPosterior6thRib, RightPosterior7thRib, RightPosterior8thRib,
	RightPosterior9thRib, RightPosterior10thRib, RightPosterior11thRib, RightPosterior12thRib,
}

// RightPosteriorRib returns the posterior part of right rib 1..12; an invalid structure
// for any other n.
func RightPosteriorRib(n int) Structure {
	if n < 1 || n > len(rightPosteriorRibs) {
		return 0
	}
	return rightPosteriorRibs[n-1]
}

// FilterStructures returns the 97 structures whose presence the global filter of
// CheXStruct counts, in channel order.
//
// Source: [official code], the list of names of the mask-count step.
func FilterStructures() []Structure { return filterSet.List() }

// FilterSet returns [FilterStructures] as a set.
func FilterSet() Set { return filterSet }

var filterSet = buildFilterSet()

func buildFilterSet() Set {
	t := SetOf(ThoracicSpine, Clavicles, LeftClavicle, RightClavicle, Scapulas, LeftScapula, RightScapula,
		Diaphragm, LeftHemidiaphragm, RightHemidiaphragm,
		Cardiomediastinum, UpperMediastinum, LowerMediastinum,
		Heart, LeftHeartAtrium, RightHeartAtrium, LeftHeartVentricle, RightHeartVentricle,
		Trachea, TrachealBifurcation,
		RightUpperZoneLung, RightMidZoneLung, RightLungBase, RightApicalZoneLung,
		LeftUpperZoneLung, LeftMidZoneLung, LeftLungBase, LeftApicalZoneLung,
		AscendingAorta, DescendingAorta, AorticArch, PulmonaryArtery,
		LeftLungLowerLobe, LeftLungUpperLobe, RightLungLowerLobe, RightLungMiddleLobe, RightLungUpperLobe,
		RightLung, LeftLung)
	for n := 1; n <= 12; n++ {
		t = t.With(ThoracicVertebra(n))
	}
	// The sided ribs are one block of channels: posterior 12th, then anterior and
	// posterior 11th down to 1st of both sides.
	for s := RightPosterior12thRib; s <= LeftPosterior1stRib; s++ {
		t = t.With(s)
	}
	return t
}

// TaskStructures returns the 33 structures that the twelve diagnostic tasks of
// CheXStruct measure, in channel order.
//
// Source: [paper Table 5]; the heart, which two aorta tasks read without listing it, is
// in the union anyway.
func TaskStructures() []Structure { return taskSet.List() }

// TaskSet returns [TaskStructures] as a set.
func TaskSet() Set { return taskSet }

var taskSet = buildTaskSet()

func buildTaskSet() Set {
	t := SetOf(Heart, RightLung, LeftLung, UpperMediastinum, Trachea, TrachealBifurcation,
		AorticArch, AscendingAorta, DescendingAorta, RightHemidiaphragm, LeftHemidiaphragm,
		RightClavicle, LeftClavicle, RightScapula, LeftScapula)
	for n := 1; n <= 7; n++ {
		t = t.With(ThoracicVertebra(n))
	}
	for n := 1; n <= 11; n++ {
		t = t.With(RightPosteriorRib(n))
	}
	return t
}
